import { ConfigError } from '../errors.ts';
import { madeOf } from './function-sources.ts';
import type { HostSettings, RWSplitSettings } from './settings.ts';

type Hosts = Pick<RWSplitSettings, 'primary' | 'replicas'>;

/**
 * Checks that it is known of every host which server it is, as counting its connections needs;
 * of a list that is yet to be told, when it is told.
 *
 * @throws {ConfigError} when only a function of the application knows.
 */
export function requireAddresses({ primary, replicas }: Hosts): Hosts {
  requireAddress(primary);
  if (typeof replicas !== 'function') {
    for (const replica of replicas) requireAddress(replica);
    return { primary, replicas };
  }
  const checked = async (): Promise<readonly HostSettings[]> => {
    const told = await replicas();
    for (const replica of told) requireAddress(replica);
    return told;
  };
  return { primary, replicas: madeOf(checked, replicas) };
}

function requireAddress({ name, connection }: HostSettings): void {
  if (typeof connection !== 'function') return;
  throw new ConfigError(
    'rwSplit.maxPerServer',
    `rwSplit.maxPerServer counts the connections to a server, and only a function knows which one ${name} is; ` +
      'write its host and port, with a function for the password alone.',
  );
}
