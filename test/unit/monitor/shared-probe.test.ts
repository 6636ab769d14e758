import { describe, expect, it, jest } from '@jest/globals';
import { ServerBudget } from '../../../lib/hosts/server-budget.ts';
import type { ProbeClient } from '../../../lib/monitor/probe.ts';
import { probePlace } from '../../../lib/monitor/probe-place.ts';
import { SharedProbe } from '../../../lib/monitor/shared-probe.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeProbeClient, serverError } from '../../support/fake-probe-client.ts';
import { pass, settle } from '../../support/fake-servers.ts';

type Conduct = 'up' | 'hang' | 'pooled' | 'slow login' | 'no password' | Error;

/** A probe's client whose server closes the connection as it is asked to. */
class PoliteClient extends FakeProbeClient {
  override end(): void {
    super.end();
    this.lose();
  }

  /** Ends without its server, as a driver's client whose socket is destroyed. */
  endWhenCut(): this {
    this.connection.stream.destroy = () => void setImmediate(() => this.emit('end'));
    return this;
  }

  lose(): void {
    Object.assign(this.connection.stream, { readableEnded: true });
    this.emit('end');
  }
}

interface Bench {
  readonly clock: FakeClock;
  readonly budget: ServerBudget;
  /** What was dialled, by any of them. */
  readonly clients: PoliteClient[];
  readonly most: () => number;
  readonly make: (conduct?: Conduct, onLost?: () => void) => SharedProbe;
}

function bench(): Bench {
  const clock = new FakeClock();
  const budget = new ServerBudget('pg:5432', 5, clock, () => undefined);
  const clients: PoliteClient[] = [];
  let most = 0;
  const make = (conduct: Conduct = 'up', onLost = (): void => undefined): SharedProbe => {
    const dial = async (onClient: (client: ProbeClient) => void): Promise<ProbeClient> => {
      const client = new PoliteClient(() => {
        if (conduct === 'hang') return new Promise(() => undefined);
        return { rows: [{ isInRecovery: 'f', processId: conduct === 'pooled' ? '8' : '7' }] };
      }).endWhenCut();
      clients.push(client);
      budget.probes.add(client);
      most = Math.max(most, budget.probes.size);
      onClient(client);
      if (conduct === 'slow login' || conduct === 'no password') {
        // The server has asked for the password.
        client.connection.stream.bytesRead = 1;
        if (conduct === 'slow login') return new Promise(() => undefined);
        throw Object.assign(new Error('the vault is away'), { code: 'ECONNREFUSED' });
      }
      if (conduct instanceof Error) {
        client.lose();
        throw conduct;
      }
      return client;
    };
    const settings = { isCounted: true };
    return new SharedProbe(Object.assign(dial, settings), clock, onLost, probePlace(budget, clock));
  };
  return { clock, budget, clients, most: () => most, make };
}

const asked = (clients: readonly PoliteClient[]): number =>
  clients.flatMap(({ texts }) => texts).length;

describe('SharedProbe', () => {
  it('has one connection and one answer for all that ask at a time', async () => {
    const { clock, clients, make } = bench();
    const probes = Array.from({ length: 30 }, () => make());

    const found = await Promise.all(probes.map(async (probe) => probe.run(1000, clock.now())));

    expect(found.every((outcome) => outcome?.isGood === true)).toBe(true);
    expect([clients.length, asked(clients)]).toEqual([1, 1]);
  });

  it('takes an answer that is young enough, with the time that it is of', async () => {
    const { clock, clients, make } = bench();
    const [one, other] = [make(), make()];
    await one.run(1000, clock.now());
    clock.advance(2000);

    expect(await other.run(1000, clock.now() - 2500)).toMatchObject({ isGood: true, at: 1 });
    expect(asked(clients)).toBe(1);
  });

  it('asks anew by the open connection for one that is younger', async () => {
    const { clock, clients, make } = bench();
    const [one, other] = [make(), make()];
    await one.run(1000, clock.now());
    clock.advance(2000);

    const found = await other.run(1000, clock.now() - 500);

    expect(found).toMatchObject({ isGood: true, at: 2001 });
    expect([clients.length, asked(clients)]).toEqual([1, 2]);
  });

  it('says to each once that the connection is new', async () => {
    const { clock, make } = bench();
    const [one, other] = [make(), make()];

    const found = [];
    for (const probe of [one, other, one, other]) {
      clock.advance(1);
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      found.push(await probe.run(1000, clock.now()));
    }

    expect(found.map((outcome) => outcome?.isGood === true && outcome.isNewConnection)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it.each([
    ['first', 0],
    ['last', 1],
  ])('asks by its own connection beside one that cannot log in and asks %s', async (_, place) => {
    const { clock, make, most } = bench();
    const refused = serverError('28P01', 'FATAL');
    const right = make();
    const probes = [right];
    probes.splice(place === 0 ? 0 : 1, 0, make(refused));

    const found = await Promise.all(probes.map(async (probe) => probe.run(1000, clock.now())));

    expect(found[probes.indexOf(right)]?.isGood).toBe(true);
    // Who asks last is told what the other one was told.
    expect(found[place]?.isGood).toBe(place === 1);
    expect(most()).toBe(1);
  });

  it('shares that the server is silent', async () => {
    const { clock, clients, make } = bench();
    const [one, other] = [make('hang'), make('hang')];

    const since = clock.now();
    const found = one.run(1000, since);
    void other.run(1000, since);
    await pass(clock, 1300);

    expect(await found).toMatchObject({ isTimeout: true });
    // It may have ceased to wait a moment before.
    expect(await other.run(1000, since)).toMatchObject({ isTimeout: true });
    expect(clients).toHaveLength(1);
  });

  it.each(['slow login', 'no password'] as const)(
    'asks by itself beside one whose client has %s',
    async (conduct) => {
      const { clock, make, most } = bench();
      const [slow, quick] = [make(conduct), make()];

      const found = slow.run(1000, clock.now());
      const own = quick.run(2000, clock.now());
      await pass(clock, 1500);

      expect(await found).toMatchObject({ isGood: false });
      expect(await own).toMatchObject({ isGood: true });
      // It is told by the open connection from there on.
      expect(await slow.run(1000, clock.now())).toMatchObject({ isGood: true });
      expect(most()).toBe(1);
    },
  );

  it('asks by itself where another one’s login has failed on its connection', async () => {
    const { clock, clients, make } = bench();
    const [slow, quick] = [make('slow login'), make()];
    void slow.run(1000, clock.now());
    await pass(clock, 1500);

    const found = await quick.run(1000, clock.now());

    expect(found).toMatchObject({ isGood: true });
    expect(clients).toHaveLength(2);
  });

  it('is told of no silence that was shorter than its own patience', async () => {
    const { clock, make } = bench();
    const [hasty, patient] = [make('hang'), make('hang')];
    const since = clock.now();

    const found = hasty.run(100, since);
    const own = patient.run(2000, since);
    let isTold = false;
    void own.then(() => (isTold = true));
    await pass(clock, 600);

    expect([await found, isTold]).toMatchObject([{ isTimeout: true }, false]);
    await pass(clock, 2500);
    expect(await own).toMatchObject({ isTimeout: true });
  });

  it('serves who has heard nothing for longest first', async () => {
    const { clock, make } = bench();
    const probes = [make('slow login'), make('slow login'), make()] as const;
    clock.advance(500);
    const [first, second, longest] = probes;
    void first.run(1000, clock.now());
    await settle();
    void second.run(1000, clock.now());

    const found = longest.run(1200, clock.now() - 400);
    await pass(clock, 1300);

    expect(await found).toMatchObject({ isGood: true });
  });

  it('learns nothing where it gets no turn within its own time', async () => {
    const { clock, make } = bench();
    const [one, other] = [make('hang'), make()];
    void one.run(2000, clock.now());
    await settle();

    const found = other.run(500, clock.now());
    await pass(clock, 600);

    expect(await found).toBeUndefined();
    one.destroy();
  });

  it('asks for each client by itself behind a pooler, one after the other', async () => {
    const { clock, clients, most, make } = bench();
    const probes = [make('pooled'), make('pooled'), make('pooled')];
    await probes[0]?.run(1000, clock.now());

    await Promise.all(probes.map(async (probe) => probe.run(1000, clock.now())));

    expect(asked(clients)).toBe(4);
    expect(most()).toBe(1);
  });

  it('tells every client that the connection was lost', async () => {
    const { clock, clients, make } = bench();
    const told = jest.fn<() => void>();
    const [one, other] = [make('up', told), make('up', told)];
    await one.run(1000, clock.now());
    void other;

    clients[0]?.lose();

    expect(told).toHaveBeenCalledTimes(2);
  });

  it('dials anew only once the old connection is closed', async () => {
    const { clock, clients, most, make } = bench();
    const [one, other] = [make(), make()];
    await one.run(1000, clock.now());

    expect(await other.renew(1000)).toBe(true);
    expect(await one.renew(1000)).toBe(true);
    await other.run(1000, clock.now() + 1);

    expect([clients.length, most()]).toEqual([2, 1]);
  });

  it('asks of its own sessions by a connection of its own', async () => {
    const { clock, clients, most, make } = bench();
    const [one, other] = [make(), make()];
    await one.run(1000, clock.now());

    await other.ask('select 1', [], 1000);

    expect(clients.at(-1)?.texts.at(-1)).toBe('select 1');
    expect([clients.length, most()]).toEqual([2, 1]);
  });

  it('goes on where the client that opened the connection is destroyed', async () => {
    const { clock, budget, clients, most, make } = bench();
    const [one, other] = [make(), make()];
    await one.run(1000, clock.now());

    one.destroy();
    const found = await other.run(1000, clock.now() + 1);

    expect(found?.isGood).toBe(true);
    expect([clients.length, most()]).toEqual([2, 1]);
    other.destroy();
    expect(budget.stats.used).toBe(0);
  });
});
