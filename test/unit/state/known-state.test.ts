import { describe, expect, it } from '@jest/globals';
import type { Change } from '../../../lib/state/known-state.ts';
import { KnownState } from '../../../lib/state/known-state.ts';
import { Reports } from '../../../lib/state/reports.ts';
import type { WantedState } from '../../../lib/state/wanted-state.ts';
import { nothingWanted, wantedState } from '../../../lib/state/wanted-state.ts';

const wanted = (role?: string, settings: Record<string, string> = {}): WantedState =>
  wantedState({ searchPath: undefined, role, settings });

const shown = (changes: readonly Change[]): string[] =>
  changes.map(({ name, value }) => `${name}=${value}`);

interface Bench {
  readonly known: KnownState;
  readonly reports: Reports;
  /** Has the server do what is needed, and says what that was. */
  change(to: WantedState): string[];
}

function bench(before: Record<string, string> = {}): Bench {
  const reports = new Reports();
  const known = new KnownState(reports);
  const change = (to: WantedState): string[] => {
    const changes = known.differenceTo(to);
    known.begin(changes);
    const answers = changes.map(({ name, value }) => ({
      name,
      before: before[name] ?? null,
      after: value ?? '',
    }));
    for (const answer of answers) known.noteBefore(answer);
    known.confirm(changes, answers, to);
    return shown(changes);
  };
  return { known, reports, change };
}

describe('KnownState', () => {
  it('needs nothing for nothing', () => {
    expect(bench().known.differenceTo(nothingWanted)).toEqual([]);
  });

  it('changes what differs, and nothing where nothing does', () => {
    const { change } = bench();

    expect(change(wanted('a', { x: '1', y: '2' }))).toEqual(['x=1', 'y=2', 'role=a']);
    expect(change(wanted('a', { x: '1', y: '2' }))).toEqual([]);
    expect(change(wanted('b', { x: '1', y: '2' }))).toEqual(['role=b']);
  });

  it('leaves a role before it changes anything else, and takes the next one last', () => {
    const { change } = bench({ role: 'none' });
    change(wanted('a', { x: '1' }));

    expect(change(wanted('a', { x: '2' }))).toEqual(['role=none', 'x=2', 'role=a']);
    expect(change(wanted(undefined, { x: '3' }))).toEqual(['role=none', 'x=3']);
    expect(change(nothingWanted)).toEqual(['x=null']);
  });

  it('restores what was there before its own first change', () => {
    const { change } = bench({ x: 'of afterCreate', role: 'app' });
    change(wanted('a', { x: '1' }));
    change(wanted('a', { x: '2' }));

    expect(change(nothingWanted)).toEqual(['role=none', 'x=of afterCreate', 'role=app']);
  });

  it('sends again what was not confirmed', () => {
    const { known } = bench();
    const state = wanted(undefined, { x: '1' });

    known.begin(known.differenceTo(state));

    expect(shown(known.differenceTo(state))).toEqual(['x=1']);
    expect(shown(known.differenceTo(nothingWanted))).toEqual(['x=null']);
  });

  it('sends again what code may have changed, and what tenants differ by', () => {
    const { known, change } = bench();
    change(wanted(undefined, { x: '1' }));

    known.doubtAll();

    expect(change(wanted(undefined, { x: '1' }))).toEqual([
      'role=none',
      'search_path=null',
      'x=1',
      'role=null',
    ]);
    expect(change(wanted(undefined, { x: '1' }))).toEqual([]);
  });

  it('restores what was there before code may have changed it', () => {
    const { known, change } = bench({ x: 'of afterCreate' });
    known.began([
      ['role', 'app'],
      ['search_path', 'app'],
    ]);
    change(wanted(undefined, { x: '1' }));
    change(nothingWanted);

    known.doubtAll();

    expect(change(nothingWanted)).toEqual([
      'role=none',
      'search_path=app',
      'x=of afterCreate',
      'role=app',
    ]);
  });

  it('sends a role again that may be another one by now', () => {
    const { known, change } = bench();
    known.doubtRole();
    expect(change(nothingWanted)).toEqual([]);
    change(wanted('a'));

    known.doubtRole();

    expect(change(wanted('a'))).toEqual(['role=a']);
  });

  it('restores what another value would only be laid over', () => {
    const { change } = bench({ datestyle: 'ISO, MDY' });

    expect(change(wanted(undefined, { datestyle: 'SQL, DMY' }))).toEqual(['datestyle=SQL, DMY']);
    expect(change(wanted(undefined, { datestyle: 'ISO' }))).toEqual([
      'datestyle=ISO, MDY',
      'datestyle=ISO',
    ]);
  });

  it('leaves an isolation for every change, and comes back to it', () => {
    const { known, change } = bench();
    const isolation = { default_transaction_isolation: 'serializable' };
    change(wanted(undefined, isolation));
    expect(known.isIsolated).toBe(true);

    expect(change(wanted(undefined, { ...isolation, x: '1' }))).toEqual([
      'default_transaction_isolation=serializable',
      'x=1',
    ]);
    expect(change(wanted(undefined, { x: '1' }))).toEqual(['default_transaction_isolation=null']);
    expect(known.isIsolated).toBe(false);
  });

  it('leaves an isolation as it is that replicas know, too', () => {
    const { known, change } = bench();
    const isolation = { default_transaction_isolation: 'repeatable read' };
    change(wanted(undefined, isolation));

    expect(known.isIsolated).toBe(false);
    expect(change(wanted(undefined, { ...isolation, x: '1' }))).toEqual(['x=1']);
    known.doubtAll();
    expect(known.isIsolated).toBe(true);
  });

  it('sends again what the server reports otherwise, as it was when the connection opened', () => {
    const { known, reports, change } = bench({ timezone: 'wrong' });
    reports.note('TimeZone', 'UTC');
    reports.settle();

    reports.note('TimeZone', 'Asia/Tokyo');

    expect(change(nothingWanted)).toEqual(['timezone=UTC']);
    reports.note('TimeZone', 'UTC');
    expect(known.differenceTo(nothingWanted)).toEqual([]);
  });

  it('knows what it changed itself by the server’s own spelling', () => {
    const { known, reports, change } = bench();
    reports.note('TimeZone', 'UTC');
    reports.settle();
    const state = wanted(undefined, { timezone: 'Asia/Tokyo' });

    change(state);
    reports.note('TimeZone', 'Asia/Tokyo');

    expect(known.differenceTo(state)).toEqual([]);
  });
});

describe('Reports', () => {
  it.each([
    'session_authorization',
    'client_encoding',
    'standard_conforming_strings',
    'default_transaction_read_only',
  ])('take a change of %s for one that can’t be put right', (name) => {
    const reports = new Reports();
    reports.note(name, 'a');
    reports.settle();
    expect(reports.isFatal).toBe(false);

    reports.note(name, 'b');

    expect(reports.isFatal).toBe(true);
  });

  it('leave a server read-only that somebody made so', () => {
    const reports = new Reports();
    reports.note('default_transaction_read_only', 'off');
    reports.settle();

    reports.note('default_transaction_read_only', 'on');

    expect(reports.drifted()).toEqual([]);
  });

  it('leave out what changes with the role, or by itself', () => {
    const reports = new Reports();
    for (const value of ['on', 'off']) {
      reports.note('is_superuser', value);
      reports.note('in_hot_standby', value);
      if (value === 'on') reports.settle();
    }

    expect(reports.drifted()).toEqual([]);
  });
});
