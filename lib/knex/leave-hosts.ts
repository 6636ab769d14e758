import { systemClock } from '../clock.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { sever, SeveredError } from '../hosts/sever.ts';
import type { ClusterWatch } from './cluster-watch.ts';

/** Waits until the connections that one client holds are given back; ends what takes too long. */
export async function leaveHosts(
  watch: ClusterWatch,
  isHeld: (connection: Connection) => boolean,
): Promise<void> {
  await Promise.all(
    watch.cluster.hosts.map((host) => leaveHost(host, watch.endMillis(host), isHeld)),
  );
}

async function leaveHost(
  { name, pool }: Host,
  millis: number,
  isHeld: (connection: Connection) => boolean,
): Promise<void> {
  const held = pool.inUse.filter(isHeld);
  const reason = (): Error =>
    new SeveredError(`The client was destroyed: no answer of ${name} within ${millis} ms.`);
  const stopWaiting = systemClock.after(millis, () => {
    for (const connection of held) {
      if (!pool.isUsing(connection)) continue;
      sever(connection, reason);
      void pool.discard(connection);
    }
  });
  await Promise.all(held.map((connection) => pool.whenReturned(connection)));
  stopWaiting();
}
