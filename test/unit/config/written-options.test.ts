import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { writeOptions } from '../../../lib/config/written-options.ts';

describe('writeOptions', () => {
  it('leaves out what is not given', () => {
    expect(writeOptions({ target: 'split', balancer: undefined })).toStrictEqual({
      target: 'split',
    });
  });

  it('hides the secret of tokens in a copy, however often', () => {
    const options = { consistency: { mode: 'session', token: { secret: 'hunter2' } } } as const;

    const written = writeOptions(writeOptions(options));

    expect(inspect(written, { depth: 9 }) + JSON.stringify(written)).not.toContain('hunter2');
    expect(written.consistency).toMatchObject({ token: { secret: 'hunter2' } });
    expect(Object.keys(options.consistency.token)).toEqual(['secret']);
  });
});
