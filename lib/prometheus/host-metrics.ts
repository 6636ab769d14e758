import { Counter, Gauge } from 'prom-client';
import type { Aggregator } from 'prom-client';
import type { MetricsPlace } from './metrics-place.ts';
import type { ShownHost } from './shown-hosts.ts';

/** A number, and the labels that it has beside its host's. */
type Sample = readonly [value: number | undefined, labels?: Readonly<Record<string, string>>];

/** What is read off each host whenever it is asked for. */
interface HostMetric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** What the processes of a Node cluster tell becomes by it: the sum by default. */
  readonly aggregator?: Aggregator;
  readonly samples: (host: ShownHost) => readonly Sample[];
}

const gauges: readonly HostMetric[] = [
  {
    name: 'host_up',
    help: 'Whether the host answers its probes (1) or not (0); absent before the first.',
    aggregator: 'min',
    samples: ({ isUp }) => [[isUp === undefined ? undefined : Number(isUp)]],
  },
  {
    name: 'host_serving',
    help: 'Whether the host takes all that its role can (1), or nothing or no reads (0); absent before its first probe.',
    aggregator: 'min',
    samples: ({ isUp, reason }) => [
      [isUp === undefined ? undefined : Number(reason === undefined)],
    ],
  },
  {
    name: 'host_lag_seconds',
    help: 'How far the replica is behind, in time; absent where that is not known.',
    aggregator: 'max',
    samples: ({ lagMillis }) => [[lagMillis && lagMillis / 1000]],
  },
  {
    name: 'host_lag_bytes',
    help: 'How far the replica is behind, in bytes of WAL; absent where that is not known.',
    aggregator: 'max',
    samples: ({ lagBytes }) => [[lagBytes]],
  },
  {
    name: 'pool_connections',
    help: 'Connections that are open, by whether they are in use.',
    labels: ['state'],
    samples: ({ pool: { used, free } }) => [
      [used, { state: 'used' }],
      [free, { state: 'free' }],
    ],
  },
  {
    name: 'pool_connections_max',
    help: 'How many connections the pool may open.',
    samples: ({ pool }) => [[pool.max]],
  },
  {
    name: 'pool_pending_requests',
    help: 'Queries that wait for a connection.',
    samples: ({ pool }) => [[pool.pending]],
  },
];

const counters: readonly HostMetric[] = [
  {
    name: 'statements_total',
    help: 'Statements and transactions that the host was given.',
    labels: ['intent'],
    samples: ({ served: { reads, writes } }) => [
      [reads, { intent: 'read' }],
      [writes, { intent: 'write' }],
    ],
  },
  {
    name: 'connect_errors_total',
    help: 'Connections that could not be opened.',
    samples: ({ served }) => [[served.connectErrors]],
  },
  {
    name: 'session_reads_total',
    help: 'Reads that had to see what their session wrote, by how the host served them.',
    labels: ['how'],
    samples: ({ consistency: { fresh, checked, stale, forStaleness } }) => [
      [fresh, { how: 'fresh' }],
      [checked, { how: 'checked' }],
      [stale, { how: 'stale' }],
      [forStaleness, { how: 'primary' }],
    ],
  },
];

/** Registers what the hosts themselves know. */
export function registerHostMetrics(place: MetricsPlace, hosts: () => readonly ShownHost[]): void {
  const registers = [place.registry];
  for (const { name, help, labels = [], aggregator = 'sum', samples } of gauges) {
    const gauge: Gauge = new Gauge({
      name: place.nameOf(name),
      help,
      registers,
      aggregator,
      labelNames: ['host', 'role', ...labels],
      collect() {
        gauge.reset();
        for (const host of hosts()) {
          const own = { host: host.name, role: host.role };
          for (const [value, more] of samples(host)) {
            if (value !== undefined) gauge.set({ ...own, ...more }, value);
          }
        }
      },
    });
    place.own(name, gauge);
  }
  // Of no role: a counter that ends with a promotion would seem to begin anew.
  for (const { name, help, labels = [], samples } of counters) {
    const counter: Counter = new Counter({
      name: place.nameOf(name),
      help,
      registers,
      labelNames: ['host', ...labels],
      collect() {
        counter.reset();
        for (const host of hosts()) {
          for (const [value, more] of samples(host)) {
            counter.inc({ host: host.name, ...more }, value);
          }
        }
      },
    });
    place.own(name, counter);
  }
}
