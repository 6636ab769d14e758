/** The numbers that an option allows. */
export interface NumberRange {
  /** Completes the sentence "it must be …". */
  readonly allowed: string;
  contains(value: number): boolean;
}

// Node: a timer of more than 2^31 - 1 ms fires at once.
const longestMillis = 2_147_483_647;

/** A duration that may be 0. */
export const delayMillis: NumberRange = {
  allowed: `a number of milliseconds from 0 to ${longestMillis}`,
  contains: (value) => value >= 0 && value <= longestMillis,
};

/** A duration in which something happens. */
export const periodMillis: NumberRange = {
  allowed: `a number of milliseconds above 0 and up to ${longestMillis}`,
  contains: (value) => value > 0 && value <= longestMillis,
};

/** How often something is done or counted. */
export const wholeNumber: NumberRange = {
  allowed: 'a whole number of at least 1',
  contains: (value) => Number.isSafeInteger(value) && value >= 1,
};

/** How many statements each session of a server keeps. */
export const preparedRange: NumberRange = {
  allowed: 'a whole number from 1 to 10000',
  contains: (value) => Number.isSafeInteger(value) && value >= 1 && value <= 10_000,
};

/** How many there are, where one is set apart. */
export const severalRange: NumberRange = {
  allowed: 'a whole number of at least 2',
  contains: (value) => Number.isSafeInteger(value) && value >= 2,
};

/** An amount of bytes. */
export const byteCount: NumberRange = {
  allowed: 'a whole number of bytes of at least 0',
  contains: (value) => Number.isSafeInteger(value) && value >= 0,
};

/** A host's share of the traffic relative to the others. */
export const weightRange: NumberRange = {
  allowed: 'a finite number of at least 0',
  contains: (value) => Number.isFinite(value) && value >= 0,
};

/** A part of a whole. */
export const shareRange: NumberRange = {
  allowed: 'a number above 0 and up to 1',
  contains: (value) => value > 0 && value <= 1,
};

/** A TCP port. */
export const portRange: NumberRange = {
  allowed: 'a port from 1 to 65535',
  contains: (value) => Number.isInteger(value) && value >= 1 && value <= 65_535,
};
