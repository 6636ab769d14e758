import { describe, expect, it } from '@jest/globals';
import { invalidOption, listKnown } from '../../../lib/config/invalid-option.ts';

describe('invalidOption', () => {
  it('names the option, what it is and what it must be', () => {
    const error = invalidOption('rwSplit.target', 'all', 'something else');

    expect(error.path).toBe('rwSplit.target');
    expect(error.message).toBe('rwSplit.target is "all"; it must be something else.');
  });
});

describe('listKnown', () => {
  it('quotes what is text', () => {
    expect(listKnown(['on', true])).toBe("one of 'on', true");
  });
});
