import { describe, expect, it } from '@jest/globals';
import { isSignedBy, signBody } from '../../../lib/consistency/token-signature.ts';

describe('isSignedBy', () => {
  const signature = signBody('body', 's1');

  it.each<[string, readonly string[], string, string, boolean]>([
    ['holds for its secret', ['s1'], 'body', signature, true],
    ['holds for one of several', ['s0', 's1', 's2'], 'body', signature, true],
    ['fails for another secret', ['s2'], 'body', signature, false],
    ['fails for another body', ['s1'], 'bodY', signature, false],
    ['fails for a part of it', ['s1'], 'body', signature.slice(0, -1), false],
    ['fails for more than it', ['s1'], 'body', `${signature}A`, false],
    ['fails for none', ['s1'], 'body', '', false],
    ['fails without secrets', [], 'body', signature, false],
  ])('%s', (_, secrets, body, given, expected) => {
    expect(isSignedBy(secrets, body, given)).toBe(expected);
  });
});

describe('signBody', () => {
  it('writes 144 bits of HMAC-SHA256, the same in every release', () => {
    // printf 'knex-rwsplit token body' | openssl dgst -sha256 -hmac s1 -binary | head -c 18 | base64
    expect(signBody('body', 's1')).toBe('W5t55ORmzEz7dwr_D5uSn0mm');
  });
});
