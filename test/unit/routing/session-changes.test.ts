import { describe, expect, it } from '@jest/globals';
import { SessionChanges } from '../../../lib/routing/session-changes.ts';

describe('SessionChanges', () => {
  it('warns once for each text', () => {
    const warnings: string[] = [];
    const changes = new SessionChanges((message) => warnings.push(message));

    for (const text of ['set a = 1', 'set a = 1', 'set b = 1']) changes.note({}, 'SET', text);

    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/SET LOCAL in knex\.transaction/);
  });

  it('does not promise what a pooler may break', () => {
    const warnings: string[] = [];
    const changes = new SessionChanges((message) => warnings.push(message));

    changes.note({}, 'SET', 'set a = 1', true);

    expect(warnings[0]).toMatch(
      /a pooler seems to stand before its server, and may give that session/,
    );
    expect(warnings[0]).not.toMatch(/does not see the change|withState/);
  });

  it('shows the beginning of a text, and none of its literals', () => {
    const warnings: string[] = [];
    const changes = new SessionChanges((message) => warnings.push(message));

    changes.note({}, 'SET', `set app.key = 'hun''ter2'; set app.list = '${'x'.repeat(2000)}`);
    changes.note({}, 'SET', `set search_path to ${'a, '.repeat(100)}b`);

    expect(warnings[0]).toContain("set app.key = '…'; set app.list = '…'. ");
    expect(warnings[0]).not.toMatch(/hun|xx/);
    expect(warnings[1]).toMatch(/set search_path to a, a, .*\.\.\./);
  });

  it('knows the changed connections, and those spoilt without a word', () => {
    const changes = new SessionChanges(() => undefined);
    const [noted, spoilt, clean] = [{}, {}, {}];

    changes.note(noted, 'SET', 'set a = 1');
    changes.spoil(spoilt);

    expect([noted, spoilt, clean].map((one) => changes.has(one))).toEqual([true, true, false]);
  });
});
