import { describe, expect, it } from '@jest/globals';
import { SessionStateError } from '../../../lib/errors.ts';
import { StateBatch } from '../../../lib/knex/state-batch.ts';
import { wantedState } from '../../../lib/state/wanted-state.ts';

const wanted = wantedState({ searchPath: undefined, role: undefined, settings: { x: '1' } });
const changes = [{ name: 'x', value: '1' }];
const refused = { code: '22023', message: 'no' };
const row = { fields: ['x', null, '1'] };

function batch(isAhead = false): { run: StateBatch; hear(...events: unknown[][]): string[] } {
  const run = new StateBatch(changes, wanted, isAhead);
  const hear = (...events: unknown[][]): string[] =>
    events.map(([event, message]) => {
      const handling = run.receive(String(event), message as object | undefined);
      return `${String(event)}: ${handling.kind}`;
    });
  return { run, hear };
}

const changing = [['parseComplete'], ['bindComplete'], ['dataRow', row], ['commandComplete']];
const swallowed = [
  'parseComplete: swallow',
  'bindComplete: swallow',
  'dataRow: swallow',
  'commandComplete: swallow',
];

describe('StateBatch', () => {
  it('keeps its own answers to itself, and believes them with the end of the batch', () => {
    const { run, hear } = batch();

    expect(hear(...changing)).toEqual(swallowed);
    expect(hear(['parseComplete'], ['dataRow', row], ['commandComplete'])).toEqual([
      'parseComplete: pass',
      'dataRow: pass',
      'commandComplete: pass',
    ]);
    expect(run.isConfirmed).toBe(false);
    expect(hear(['readyForQuery', { status: 'I' }])).toEqual(['readyForQuery: pass']);
    expect(run).toMatchObject({ isConfirmed: true, isOver: true, hasFailed: false });
    expect(run.answers).toEqual([{ name: 'x', before: null, after: '1' }]);
  });

  it.each(['T', 'E'])(
    'is not believed inside a transaction that may end otherwise: %s',
    (status) => {
      const { run, hear } = batch();

      hear(...changing, ['commandComplete'], ['readyForQuery', { status }]);

      expect(run).toMatchObject({ isConfirmed: false, isOver: true });
    },
  );

  it('is rolled back with the statement that fails', () => {
    const { run, hear } = batch();

    expect(hear(...changing, ['errorMessage', refused]).at(-1)).toBe('errorMessage: pass');
    expect(run).toMatchObject({ isConfirmed: false, isOver: true, hasFailed: false });
  });

  it('fails the statement in its stead where it is refused', () => {
    const { run } = batch();

    const handling = run.receive('errorMessage', refused as object);

    expect(handling).toMatchObject({ kind: 'fail', error: expect.any(SessionStateError) });
    expect(run).toMatchObject({ hasFailed: true, isOver: true, isConfirmed: false });
  });

  it.each(['57P01', '57014', '08006'])('passes on what is none of the state’s: %s', (code) => {
    const { run } = batch();
    const error = { ...refused, code };

    expect(run.receive('errorMessage', error as object)).toEqual({ kind: 'fail', error });
  });

  it('has an end of its own ahead of BEGIN, which makes it count', () => {
    const { run, hear } = batch(true);

    expect(hear(...changing, ['readyForQuery', { status: 'I' }]).at(-1)).toBe(
      'readyForQuery: swallow',
    );
    expect(run).toMatchObject({ isConfirmed: true, isOver: false });
    expect(hear(['commandComplete'], ['readyForQuery', { status: 'T' }])).toEqual([
      'commandComplete: pass',
      'readyForQuery: pass',
    ]);
    expect(run.isOver).toBe(true);
  });

  it('lets BEGIN fail once it was answered, where it was refused ahead of it', () => {
    const { run, hear } = batch(true);

    expect(hear(['errorMessage', refused], ['readyForQuery', { status: 'I' }])).toEqual([
      'errorMessage: swallow',
      'readyForQuery: swallow',
    ]);
    expect(hear(['commandComplete'])).toEqual(['commandComplete: pass']);
    expect(run.receive('readyForQuery', { status: 'T' })).toMatchObject({
      kind: 'fail',
      error: expect.any(SessionStateError),
    });
    expect(run).toMatchObject({ hasFailed: true, isConfirmed: false, isOver: true });
  });
});
