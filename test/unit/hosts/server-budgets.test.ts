import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../../lib/errors.ts';
import type { BudgetMember } from '../../../lib/hosts/budget-member.ts';
import { serverBudgets, ServerBudgets } from '../../../lib/hosts/server-budgets.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const member: BudgetMember = {
  label: 'shop/app',
  demand: 0,
  demandSince: 0,
  waitsSince: 0,
  idleSince: undefined,
  open: () => undefined,
  endIdle: () => undefined,
};

describe('ServerBudgets', () => {
  it('have one budget for each address', () => {
    const budgets = new ServerBudgets(new FakeClock());

    expect(budgets.of('a:1', 5)).toBe(budgets.of('a:1', 5));
    expect(budgets.of('a:1', 5)).not.toBe(budgets.of('a:2', 5));
  });

  it('refuse another number for as long as somebody takes part', () => {
    const budgets = new ServerBudgets(new FakeClock());
    const budget = budgets.of('a:1', 5);
    budget.join(member);

    expect(() => budgets.of('a:1', 6)).toThrow(ConfigError);
    expect(() => budgets.check('a:1', 6)).toThrow(
      'rwSplit.maxPerServer is 6, but another client of this process gives a:1 5; give one server one number.',
    );
    budget.leave(member);

    expect(budgets.of('a:1', 6).stats.max).toBe(6);
  });

  it('forget a budget with its last pool', () => {
    const budgets = new ServerBudgets(new FakeClock());
    budgets.of('a:1', 5).join(member);
    expect(budgets.size).toBe(1);

    budgets.of('a:1', 5).leave(member);

    expect(budgets.size).toBe(0);
  });
});

describe('serverBudgets', () => {
  it('are those of the process, or of a registry', () => {
    const [one, other] = [{ name: 'x' }, { name: 'x' }];

    expect(serverBudgets('shop')).toBe(serverBudgets(undefined));
    expect(serverBudgets(one)).toBe(serverBudgets(one));
    expect(new Set([undefined, one, other].map(serverBudgets)).size).toBe(3);
  });
});
