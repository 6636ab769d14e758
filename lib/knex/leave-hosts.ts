import { systemClock } from '../clock.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { sever, SeveredError } from '../hosts/sever.ts';
import type { ClusterWatch } from './cluster-watch.ts';

/** Waits until the connections that one client holds are given back; ends what takes too long. */
export async function leaveHosts(
  watch: ClusterWatch,
  isHeld: (connection: Connection) => boolean,
): Promise<void> {
  const hosts = [...watch.cluster.hosts, ...watch.leaving];
  await Promise.all(hosts.map((host) => leaveHost(host, watch.endMillis(host), isHeld)));
}

async function leaveHost(
  { name, pool }: Host,
  millis: number,
  isHeld: (connection: Connection) => boolean,
): Promise<void> {
  const held = pool.inUse.filter(isHeld);
  const late = `The client was destroyed: no answer of ${name} within ${millis} ms.`;
  const end = (connection: Connection): void => sever(connection, () => new SeveredError(late));
  let taken: readonly Promise<void>[] = [];
  const stopWaiting = systemClock.after(millis, () => {
    const left = held.filter((connection) => pool.isUsing(connection));
    taken = left.map((connection) => pool.takeAway(connection, end));
  });
  await Promise.all(held.map((connection) => pool.whenReturned(connection)));
  stopWaiting();
  await Promise.all(taken);
}
