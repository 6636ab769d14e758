import { createHash } from 'crypto';
import { InvalidTokenError } from '../errors.ts';
import type { Mark } from './mark.ts';
import { isSignedBy, signBody } from './token-signature.ts';
import { formatBody, parseToken, type ParsedToken } from './token-text.ts';

/** What a token says of the session that it comes from. */
export interface TokenContent {
  /** The highest position that the session's writes reached. */
  readonly written: Mark | undefined;
  /** Whether it wrote, and the position isn't known: it reads from the primary. */
  readonly isUncertain: boolean;
  /** What its reads have seen, where they never go back in time. */
  readonly seen: Mark | undefined;
}

/** What {@link writeToken} needs beyond the content. */
export interface TokenIssue {
  /** PostgreSQL's system identifier of the cluster, where it is known. */
  readonly systemId: string | undefined;
  /** Signs the token; one without is not signed. */
  readonly secret: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What {@link readToken} holds a token against. */
export interface TokenCheck {
  /** PostgreSQL's system identifier of the cluster, where it is known. */
  readonly systemId: string | undefined;
  /** Each may have signed the token; with none, only tokens that aren't signed are believed. */
  readonly secrets: readonly string[];
  /** How long a token is believed, in milliseconds. */
  readonly maxAgeMillis: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const clockSkewMillis = 60_000;
const systemHashBytes = 6;

/** Writes a token: fewer than 100 characters, which need no escaping in cookies, headers and URLs. */
export function writeToken(content: TokenContent, { systemId, secret, now }: TokenIssue): string {
  const body = formatBody({ ...content, system: hashSystem(systemId), issuedAt: now });
  return secret === undefined ? body : `${body}.${signBody(body, secret)}`;
}

/**
 * Reads a token that {@link writeToken} wrote, in whichever process.
 *
 * @throws {InvalidTokenError} when it is malformed, forged, of another cluster or of another time.
 */
export function readToken(text: string, check: TokenCheck): TokenContent {
  const token = parseToken(text);
  requireSignature(token, check.secrets);
  requireCluster(token.system, hashSystem(check.systemId));
  requireTime(check.now - token.issuedAt, check.maxAgeMillis);
  const { written, isUncertain, seen } = token;
  return { written, isUncertain, seen };
}

function requireSignature({ body, signature }: ParsedToken, secrets: readonly string[]): void {
  if (secrets.length === 0) {
    if (signature === undefined) return;
    throw new InvalidTokenError(
      'The token is signed, and nothing here can verify it: consistency.token.secret is not set.',
    );
  }
  if (signature === undefined) {
    throw new InvalidTokenError(
      'The token is not signed, but consistency.token.secret is set: whoever issues tokens needs the secret, too.',
    );
  }
  if (!isSignedBy(secrets, body, signature)) {
    throw new InvalidTokenError('The token is forged, or signed with a secret that is not known.');
  }
}

function requireCluster(system: string | undefined, own: string | undefined): void {
  if (system === undefined || own === undefined || system === own) return;
  throw new InvalidTokenError(
    'The token is of another cluster: its positions mean nothing in this one.',
  );
}

function requireTime(ageMillis: number, maxAgeMillis: number): void {
  if (ageMillis > maxAgeMillis) {
    throw new InvalidTokenError(
      `The token is too old: it is believed for ${maxAgeMillis} ms, as consistency.token.maxAgeMillis says.`,
    );
  }
  if (ageMillis < -clockSkewMillis) {
    throw new InvalidTokenError(
      `The token is from the future, by more than the ${clockSkewMillis} ms that clocks may differ.`,
    );
  }
}

function hashSystem(systemId: string | undefined): string | undefined {
  if (systemId === undefined) return undefined;
  return createHash('sha256').update(systemId).digest().toString('base64url', 0, systemHashBytes);
}
