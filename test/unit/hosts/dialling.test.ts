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

    dialling.giveUp(() => new Error('silent'));
    dialling.giveUp(() => new Error('later'));

    expect(opening).toEqual([new Error('silent')]);
    expect(open).toEqual([]);
  });

  it('gives each an error of its own, into which others may write', () => {
    const dialling = new Dialling();
    const errors: unknown[] = [];
    dialling.begin(dialled(errors));
    dialling.begin(dialled(errors));

    dialling.giveUp(() => new Error('silent'));

    expect(new Set(errors).size).toBe(2);
  });

  it('knows where the last connection was dialled', () => {
    const dialling = new Dialling();

    expect(dialling.address).toBeUndefined();
    dialling.begin({ host: 'pg-1', port: 5432 });
    dialling.begin({ host: 'pg-2', port: 5433, password: 'secret' });
    dialling.begin({});

    expect(dialling.address).toEqual({ host: 'pg-2', port: 5433 });
  });
});
