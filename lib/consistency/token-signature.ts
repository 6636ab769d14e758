import { createHmac, timingSafeEqual } from 'crypto';

// 144 bits are 24 characters of base64url with no bit to spare, so a signature is written in one
// way only.
const signatureBytes = 18;

/** Signs a token's body with HMAC-SHA256. */
export function signBody(body: string, secret: string): string {
  // The prefix keeps whatever else an application signs with the same secret from being a token.
  return createHmac('sha256', secret)
    .update(`knex-rwsplit token ${body}`)
    .digest()
    .toString('base64url', 0, signatureBytes);
}

/** Whether one of the secrets made the signature. */
export function isSignedBy(secrets: readonly string[], body: string, signature: string): boolean {
  const given = Buffer.from(signature);
  // Compared with each, and in constant time: how long it takes says nothing of what was right.
  return secrets
    .map((secret) => Buffer.from(signBody(body, secret)))
    .map((expected) => given.length === expected.length && timingSafeEqual(given, expected))
    .includes(true);
}
