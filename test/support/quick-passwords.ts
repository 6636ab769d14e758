/** What hashes a password once, and not 4096 times for each of thousands of connections. */
export const quickPasswords = { scram_iterations: '1' } as const;
