import { describe, expect, it } from '@jest/globals';
import { readAnyConnection, readConnection } from '../../../lib/config/connection-options.ts';

const expirationChecker = (): boolean => false;

describe('readAnyConnection', () => {
  it('passes on settings that it does not know', () => {
    expect(readAnyConnection({ host: 'h1', custom: 1 }, 'at')).toEqual({ host: 'h1', custom: 1 });
  });
});

describe('readConnection', () => {
  it('allows an object what it is told to allow', () => {
    const answer = { host: 'h1', expirationChecker };

    expect(readConnection(answer, 'at', ['expirationChecker'])).toEqual(answer);
    expect(() => readConnection(answer, 'at')).toThrow('at.expirationChecker is no option');
  });

  it('says who may have what a connection has not', () => {
    expect(() => readConnection({ host: 'h1', weight: 2 }, 'at()')).toThrow(
      'at() has "weight"; only a host written as an object in rwSplit.replicas can have it.',
    );
  });
});
