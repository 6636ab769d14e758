import { describe, expect, it } from '@jest/globals';
import { Dialling } from '../../../lib/hosts/dialling.ts';

function dialled(errors: unknown[]): object {
  return { connection: { stream: { destroy: (error: Error) => errors.push(error) } } };
}

describe('Dialling', () => {
  it('gives up what is being opened, once, and nothing that is open', () => {
    const dialling = new Dialling();
    const [opening, open]: [unknown[], unknown[]] = [[], []];
    const opened = dialled(open);
    dialling.begin(dialled(opening));
    dialling.begin(opened);
    dialling.finish(opened);
    const reason = new Error('silent');

    dialling.giveUp(reason);
    dialling.giveUp(new Error('later'));

    expect(opening).toEqual([reason]);
    expect(open).toEqual([]);
  });
});
