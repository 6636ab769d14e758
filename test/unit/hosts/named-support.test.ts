import { describe, expect, it } from '@jest/globals';
import { keepsNames, noteNameLoss } from '../../../lib/hosts/named-support.ts';
import { hostSettings, makeHost } from '../../support/hosts.ts';

describe('keepsNames', () => {
  it('is so until a host has lost three, and told once', () => {
    const host = makeHost(hostSettings('replica-1'), 'replica');

    const before = keepsNames(host);
    const told = [1, 2, 3, 4].map(() => [noteNameLoss(host, false), keepsNames(host)]);

    expect(before).toBe(true);
    expect(told).toEqual([
      [false, true],
      [false, true],
      [true, false],
      [false, false],
    ]);
  });

  it('is not so of a host whose session had another one', () => {
    const host = makeHost(hostSettings('replica-1'), 'replica');

    expect(noteNameLoss(host, true)).toBe(true);
    expect(keepsNames(host)).toBe(false);
    expect([noteNameLoss(host, true), noteNameLoss(host, false)]).toEqual([false, false]);
    expect(keepsNames(makeHost(hostSettings('replica-1'), 'replica'))).toBe(true);
  });
});
