/** Where it is `serializable`, a replica refuses every statement, but for one that resets it. */
export const ISOLATION = 'default_transaction_isolation';
