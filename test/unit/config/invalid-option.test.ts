import { describe, expect, it } from '@jest/globals';
import { invalidOption, invalidSecret, listKnown } from '../../../lib/config/invalid-option.ts';

describe('invalidOption', () => {
  it('names the option, what it is and what it must be', () => {
    const error = invalidOption('rwSplit.target', 'all', 'something else');

    expect(error.path).toBe('rwSplit.target');
    expect(error.message).toBe('rwSplit.target is "all"; it must be something else.');
  });
});

describe('invalidSecret', () => {
  it('shows nothing of the value', () => {
    const error = invalidSecret('rwSplit.consistency.token.secret', 12_345, 'a string');

    expect(error.path).toBe('rwSplit.consistency.token.secret');
    expect(error.message).toBe(
      'rwSplit.consistency.token.secret is a number; it must be a string.',
    );
  });
});

describe('listKnown', () => {
  it('quotes what is text', () => {
    expect(listKnown(['on', true])).toBe("one of 'on', true");
  });
});
