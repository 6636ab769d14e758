import { describe, expect, it } from '@jest/globals';
import { mergeConnections } from '../../../lib/config/connection-object.ts';
import {
  findRoutingParameter,
  takeRoutingParameters,
} from '../../../lib/config/routing-parameters.ts';

function take(parameters: Record<string, unknown>): ReturnType<typeof takeRoutingParameters> {
  return takeRoutingParameters(mergeConnections(parameters), 'connection');
}

describe('takeRoutingParameters', () => {
  it.each([
    ['any', 'split'],
    ['master', 'primary'],
    ['primary', 'primary'],
    ['read-write', 'primary'],
    ['slave', 'replica'],
    ['secondary', 'replica'],
    ['standby', 'replica'],
    ['read-only', 'replica'],
    ['preferSlave', 'prefer-replica'],
    ['preferSecondary', 'prefer-replica'],
    ['preferStandby', 'prefer-replica'],
    ['prefer-standby', 'prefer-replica'],
  ])('takes the server type %s for the target %s', (word, target) => {
    expect(take({ targetServerType: word }).target).toBe(target);
    expect(take({ target_session_attrs: word }).target).toBe(target);
  });

  it.each<[string, unknown, unknown]>([
    ['autoBalance', 'roundrobin', 'round-robin'],
    ['autoBalance', 'true', 'round-robin'],
    ['autoBalance', true, 'round-robin'],
    ['autoBalance', 'balance', 'round-robin'],
    ['autoBalance', 'shuffle', 'shuffle'],
    ['autoBalance', 'priority2', { name: 'priority', first: 2 }],
    ['autoBalance', 'leastconn', 'least-connections'],
    ['autoBalance', 'false', 'in-order'],
    ['loadBalanceHosts', 'true', 'shuffle'],
    ['loadBalanceHosts', 'false', 'in-order'],
    ['load_balance_hosts', 'random', 'shuffle'],
    ['load_balance_hosts', 'disable', 'in-order'],
  ])('takes %s=%s for the balancer %p', (name, word, balancer) => {
    expect(take({ [name]: word }).balancer).toEqual(balancer);
  });

  it.each([
    ['pg-1:6000', { host: 'pg-1', port: 6000 }],
    ['[::1]', { host: '::1' }],
    ['', undefined],
  ])('takes writeDataSourceAddress=%s for %p', (word, address) => {
    expect(take({ writeDataSourceAddress: word }).writeAddress).toEqual(address);
  });

  it('prefers autoBalance, which is the more precise', () => {
    expect(take({ loadBalanceHosts: 'true', autoBalance: 'leastconn' }).balancer).toBe(
      'least-connections',
    );
  });

  it('says nothing where nothing is said', () => {
    expect(take({ host: 'h1' })).toEqual({ settings: { host: 'h1' } });
  });

  it('leaves the rest for pg, the password included', () => {
    const { settings } = take({
      application_name: 'shop',
      password: 'hunter2',
      enableStatementLoadBalance: 'true',
      targetServerType: 'any',
      autoBalance: 'shuffle',
      writeDataSourceAddress: 'h1',
    });

    expect(settings).toEqual({ application_name: 'shop' });
    expect(settings.password).toBe('hunter2');
  });

  it.each<[string, unknown, RegExp]>([
    ['targetServerType', 'Master', /'any', 'master'.*'prefer-standby'/],
    ['target_session_attrs', 'all', /'any', 'master'/],
    ['autoBalance', 'random', /'roundrobin'.*'leastconn', 'false', 'priority<n>'/],
    ['autoBalance', 'priority', /priority<n>/],
    ['autoBalance', 'shufflePriority2', /priority<n>/],
    ['autoBalance', 7, /is 7; .*priority<n>/],
    ['loadBalanceHosts', 'yes', /'true', 'random', 'false', 'disable'/],
    ['load_balance_hosts', 'yes', /'true', 'random', 'false', 'disable'/],
    ['enableStatementLoadBalance', 'yes', /'true', 'false'/],
    ['writeDataSourceAddress', 'h1:x', /a host and port/],
    ['writeDataSourceAddress', 'h1,h2', /a host and port/],
  ])('refuses %s=%s and lists what is known', (name, word, known) => {
    expect(() => take({ [name]: word })).toThrow(
      expect.objectContaining({
        path: `connection.${name}`,
        message: expect.stringMatching(known),
      }),
    );
  });

  it.each([
    ['master', 'standby'],
    ['preferSlave', 'any'],
  ])('refuses the server type %s beside the session attributes %s', (type, attributes) => {
    expect(() => take({ targetServerType: type, target_session_attrs: attributes })).toThrow(
      expect.objectContaining({
        name: 'ConfigError',
        path: 'connection.target_session_attrs',
        message: `connection.target_session_attrs is "${attributes}", and targetServerType says otherwise; write one of them.`,
      }),
    );
  });

  it('takes both where they say the same', () => {
    const both = { targetServerType: 'secondary', target_session_attrs: 'read-only' };

    expect(take(both).target).toBe('replica');
  });

  it('checks a parameter also where another one wins', () => {
    const both = { targetServerType: 'any', target_session_attrs: 'all' };

    expect(() => take(both)).toThrow('connection.target_session_attrs');
  });
});

describe('findRoutingParameter', () => {
  it('finds the first one', () => {
    expect(findRoutingParameter(mergeConnections({ host: 'h1', autoBalance: 'true' }))).toBe(
      'autoBalance',
    );
    expect(findRoutingParameter(mergeConnections({ host: 'h1' }))).toBeUndefined();
  });
});
