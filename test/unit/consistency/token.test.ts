import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InvalidTokenError } from '../../../lib/errors.ts';
import {
  readToken,
  writeToken,
  type TokenCheck,
  type TokenContent,
  type TokenIssue,
} from '../../../lib/consistency/token.ts';
import { signBody } from '../../../lib/consistency/token-signature.ts';

const now = Date.UTC(2026, 0, 1);
const written = { timeline: 1, lsn: 51_249_584n };
const content: TokenContent = { written, isUncertain: false, seen: undefined };

function write(more: Partial<TokenIssue> = {}, what: TokenContent = content): string {
  return writeToken(what, { systemId: '7012', secret: 's1', now, ...more });
}

function read(text: unknown, more: Partial<TokenCheck> = {}): TokenContent {
  // Applications pass what a request brought, whatever that is.
  const given = text as string;
  return readToken(given, { systemId: '7012', secrets: ['s1'], maxAgeMillis: 1000, now, ...more });
}

function refusal(fn: () => unknown): string {
  try {
    fn();
  } catch (error) {
    if (error instanceof InvalidTokenError) return error.message;
    throw error;
  }
  throw new Error('It was believed.');
}

describe('readToken', () => {
  it.each<[string, TokenContent]>([
    ['a write', content],
    ['a write whose position is unknown', { ...content, written: undefined, isUncertain: true }],
    ['a known one and an unknown one', { ...content, isUncertain: true }],
    ['what reads have seen', { ...content, seen: { timeline: 2, lsn: 0n } }],
    ['nothing', { written: undefined, isUncertain: false, seen: undefined }],
  ])('gives back what was written: %s', (_, what) => {
    expect(read(write({}, what))).toEqual(what);
    expect(read(write({ secret: undefined }, what), { secrets: [] })).toEqual(what);
  });

  it('believes a token that any of the secrets signed', () => {
    expect(read(write({ secret: 's2' }), { secrets: ['s1', 's2'] })).toEqual(content);
  });

  it.each<[string, TokenIssue['systemId'], TokenCheck['systemId']]>([
    ['of the issuer', undefined, '7012'],
    ['of the reader', '7012', undefined],
  ])('believes a token where the cluster %s is not known', (_, issuer, reader) => {
    expect(read(write({ systemId: issuer }), { systemId: reader })).toEqual(content);
  });

  it.each([
    ['at its end', now + 1000],
    ['of a clock that is ahead', now - 60_000],
  ])('believes a token %s', (_, time) => {
    expect(read(write(), { now: time })).toEqual(content);
  });

  it.each<[string, string, () => unknown]>([
    ['malformed', 'malformed', () => read('yes')],
    ['of many characters', 'malformed', () => read(`${write()}${'x'.repeat(200)}`)],
    ['with half a position', 'malformed', () => read(signed('1.c.1-..7JgbT1-e.0'))],
    ['of a timeline that none has', 'malformed', () => read(signed('1.c.0-1...0'))],
    ['no text', 'malformed', () => read({ length: 1 })],
    ['of another version', 'version 2', () => read(write().replace('1', '2'))],
    ['signed with another secret', 'forged', () => read(write({ secret: 's2' }))],
    ['not signed', 'not signed', () => read(write({ secret: undefined }))],
    ['signed where nothing can verify it', 'is signed', () => read(write(), { secrets: [] })],
    ['of another cluster', 'another cluster', () => read(write(), { systemId: '7013' })],
    ['too old', 'too old', () => read(write(), { now: now + 1001 })],
    ['from the future', 'from the future', () => read(write(), { now: now - 60_001 })],
  ])('refuses a token that is %s, in words of its own', (_, words, act) => {
    expect(refusal(act)).toContain(words);
  });

  it('looks at the signature before it says anything of the content', () => {
    const forged = write({ secret: 's2', systemId: '7013', now: 0 });

    expect(refusal(() => read(forged))).toContain('forged');
  });

  it('repeats neither token nor secret in what it says', () => {
    const token = write({ secret: 'other-secret' });

    const message = refusal(() => read(token, { secrets: ['known-secret'] }));

    expect(message).not.toMatch(/secret-|-secret|30e01b0/);
    expect(token.split('.').filter((part) => part.length > 2 && message.includes(part))).toEqual(
      [],
    );
  });
});

function outcome(fn: () => unknown): string {
  try {
    fn();
  } catch (error) {
    return error instanceof InvalidTokenError ? 'refused' : String(error);
  }
  return 'believed';
}

const marks = fc.option(
  fc.record({
    timeline: fc.integer({ min: 1, max: 0xff_ff_ff_ff }),
    lsn: fc.bigInt({ min: 0n, max: 0xff_ff_ff_ff_ff_ff_ff_ffn }),
  }),
  { nil: undefined },
);
const contents: fc.Arbitrary<TokenContent> = fc.record({
  written: marks,
  isUncertain: fc.boolean(),
  seen: marks,
});
const instants = fc.integer({ min: 0, max: 8.64e13 });
const secrets = fc.option(fc.string({ minLength: 1, unit: 'binary' }), { nil: undefined });
const systemIds = fc.option(fc.bigInt({ min: 0n }).map(String), { nil: undefined });

describe('writeToken', () => {
  it('writes the form that other releases read', () => {
    const what = { written, isUncertain: true, seen: { timeline: 2, lsn: 255n } };

    // printf 7012 | sha256sum, its first 6 bytes in base64url.
    expect(write({ secret: undefined }, what)).toBe('1.u.1-30e01b0.2-ff.IWEtuAjS.mjuohs00');
  });
});

describe('any token', () => {
  it('says what was written, in fewer than 120 characters that need no escaping', () => {
    fc.assert(
      fc.property(contents, instants, secrets, systemIds, (what, time, secret, systemId) => {
        const token = writeToken(what, { systemId, secret, now: time });

        expect(token).toMatch(/^[\w.-]{1,119}$/);
        expect(encodeURIComponent(token)).toBe(token);
        const known = secret === undefined ? [] : [secret];
        const check = { systemId, secrets: known, maxAgeMillis: 0, now: time };
        expect(readToken(token, check)).toEqual(what);
      }),
    );
  });

  it('is refused with any character changed, where it is signed', () => {
    fc.assert(
      fc.property(contents, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (what, at, to) => {
        const token = write({}, what);
        const place = at % token.length;
        fc.pre(token[place] !== to);

        const changed = token.slice(0, place) + to + token.slice(place + 1);

        expect(() => read(changed)).toThrow(InvalidTokenError);
      }),
    );
  });
});

describe('any other text', () => {
  const parts = fc.constantFrom('1', 'c', 'u', '.', '-', '0', 'f', '1-f', 'AAAAAAAA', '__proto__');
  const almost = fc.array(parts, { maxLength: 24 }).map((some) => some.join(''));

  it.each([
    ['signed', ['s1']],
    ['not signed', []],
  ])('is read, or refused as an invalid token, where tokens are %s', (_, known) => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string(), almost, almost.map(signed)), (text) => {
        expect(outcome(() => read(text, { secrets: known }))).toMatch(/^(believed|refused)$/);
      }),
    );
  });
});

function signed(body: string): string {
  return `${body}.${signBody(body, 's1')}`;
}
