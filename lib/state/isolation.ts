/** Where it is {@link SERIALIZABLE}, a replica refuses every statement, but for one that resets it. */
export const ISOLATION = 'default_transaction_isolation';

/** The isolation that no standby knows. */
export const SERIALIZABLE = 'serializable';

/** Whether a value of {@link ISOLATION} is {@link SERIALIZABLE}. */
export function isSerializable(value: string): boolean {
  return value.toLowerCase() === SERIALIZABLE;
}
