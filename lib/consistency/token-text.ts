import { InvalidTokenError } from '../errors.ts';
import type { Mark } from './mark.ts';

/** The parts of a token as it is written, the signature aside. */
export interface TokenFields {
  readonly written: Mark | undefined;
  readonly isUncertain: boolean;
  readonly seen: Mark | undefined;
  /** A short hash of the cluster's system identifier; undefined where that isn't known. */
  readonly system: string | undefined;
  /** When it was issued, in milliseconds since the epoch. */
  readonly issuedAt: number;
}

/** A token taken apart, with nothing believed yet. */
export interface ParsedToken extends TokenFields {
  /** What the signature was made of. */
  readonly body: string;
  readonly signature: string | undefined;
}

const version = '1';
const longest = 256;

// Written in one way only. Every character is safe in URLs and is one of those that RFC 6265 allows
// in a cookie's value.
const pattern =
  /^(?<body>1\.(?<uncertain>[cu])\.(?<written>[-0-9a-f]*)\.(?<seen>[-0-9a-f]*)\.(?<system>[\w-]{8})?\.(?<issued>0|[1-9a-z][0-9a-z]{0,8}))(?:\.(?<signature>[\w-]{24}))?$/;
const markPattern = /^([1-9a-f][0-9a-f]{0,7})-(0|[1-9a-f][0-9a-f]{0,15})$/;

/** Writes what a signature is made of: `1.c.1-30e01b0..5nVtKxQ2.mh2k1q7c`. */
export function formatBody({ written, isUncertain, seen, system, issuedAt }: TokenFields): string {
  return [
    version,
    isUncertain ? 'u' : 'c',
    formatMark(written),
    formatMark(seen),
    system ?? '',
    Math.floor(issuedAt).toString(36),
  ].join('.');
}

/**
 * Takes a token apart.
 *
 * @throws {InvalidTokenError} when it is malformed, or of a version that isn't known.
 */
export function parseToken(text: unknown): ParsedToken {
  if (typeof text !== 'string' || text.length > longest) throw malformed();
  const other = /^(\d{1,4})\./.exec(text)?.[1];
  if (other !== undefined && other !== version) {
    throw new InvalidTokenError(
      `The token has version ${other}; only version ${version} is known here. All processes need the same release of knex-rwsplit.`,
    );
  }
  const groups = pattern.exec(text)?.groups;
  if (groups === undefined) throw malformed();

  const { body = '', uncertain, written, seen, system, issued = '', signature } = groups;
  return {
    body,
    isUncertain: uncertain === 'u',
    written: parseMark(written),
    seen: parseMark(seen),
    system,
    issuedAt: Number.parseInt(issued, 36),
    signature,
  };
}

function formatMark(mark: Mark | undefined): string {
  return mark === undefined ? '' : `${mark.timeline.toString(16)}-${mark.lsn.toString(16)}`;
}

function parseMark(text: string | undefined): Mark | undefined {
  if (text === undefined || text === '') return undefined;
  const [, timeline, lsn] = markPattern.exec(text) ?? [];
  if (timeline === undefined || lsn === undefined) throw malformed();
  return { timeline: Number.parseInt(timeline, 16), lsn: BigInt(`0x${lsn}`) };
}

function malformed(): InvalidTokenError {
  return new InvalidTokenError('The token is malformed: token() writes none of this form.');
}
