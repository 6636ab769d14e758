import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { ProbeConnection } from '../../../lib/monitor/probe-connection.ts';
import type { ProbeAnswer } from '../../support/fake-probe-client.ts';
import { FakeProbeClient } from '../../support/fake-probe-client.ts';

interface Sketch {
  readonly client: FakeProbeClient;
  readonly connection: ProbeConnection;
  readonly onLost: jest.Mock<() => void>;
}

async function open(answer?: ProbeAnswer): Promise<Sketch> {
  const client = new FakeProbeClient(answer);
  const onLost = jest.fn<() => void>();
  const connection = new ProbeConnection(async (onClient) => {
    onClient(client);
    return client;
  }, onLost);
  await connection.open();
  return { client, connection, onLost };
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('ProbeConnection', () => {
  it('lets the process end, over TLS as well', async () => {
    const { client } = await open();

    client.upgradeToTls();

    expect(client.done).toEqual(['unref socket', 'unref tls']);
  });

  it('throws nothing out of band', async () => {
    const { client, connection } = await open();
    client.upgradeToTls();

    client.emit('error', new Error('lost'));
    client.emit('error', new Error('lost again'));
    client.connection.stream.emit('error', new Error('lost as well'));

    expect(connection.isOpen).toBe(false);
    await expect(connection.query({ text: 'select 1' })).rejects.toThrow('was lost');
  });

  it('tells once that it was lost while nothing ran', async () => {
    const { client, onLost } = await open();

    client.emit('error', new Error('terminated'));
    client.emit('end');

    expect(onLost).toHaveBeenCalledTimes(1);
    expect(client.done).toContain('destroy socket');
  });

  it('leaves it to the statement that runs to tell that it was lost', async () => {
    const { client, connection, onLost } = await open(never);

    void connection.query({ text: 'select 1' });
    await turn();
    client.emit('end');

    expect(onLost).not.toHaveBeenCalled();
  });

  it('sends one statement after the other', async () => {
    let answerFirst = (): void => undefined;
    const { client, connection } = await open((text) =>
      text === 'first'
        ? new Promise((resolve) => {
            answerFirst = () => resolve({ rows: [text] });
          })
        : [{ rows: [] }, { rows: [text] }],
    );

    const both = Promise.all([
      connection.query({ text: 'first' }),
      connection.query({ text: 'second' }),
    ]);
    await turn();
    const sent = [...client.texts];
    answerFirst();

    expect(sent).toEqual(['first']);
    await expect(both).resolves.toEqual([{ rows: ['first'] }, { rows: ['second'] }]);
  });

  it('takes leave of a server that waits for it', async () => {
    const { client, connection, onLost } = await open();

    connection.destroy();
    client.emit('end');

    expect(client.done).toEqual(['unref socket', 'end', 'destroy socket soon']);
    expect(onLost).not.toHaveBeenCalled();
  });

  it('cuts a statement that runs', async () => {
    const { client, connection } = await open(never);

    void connection.query({ text: 'select 1' });
    await turn();
    connection.destroy();

    expect(client.done).toEqual(['unref socket', 'destroy socket']);
  });

  it('cuts a dial that hangs', async () => {
    const client = new FakeProbeClient();
    const connection = new ProbeConnection(
      (onClient) => {
        onClient(client);
        return never();
      },
      () => undefined,
    );

    void connection.open();
    connection.destroy();

    expect(client.done).toEqual(['unref socket', 'destroy socket']);
  });

  it('lets a dial that was given up before it had a client go no further', async () => {
    const client = new FakeProbeClient();
    const connected = jest.fn();
    const connection = new ProbeConnection(
      async (onClient) => {
        await turn();
        onClient(client);
        connected();
        return client;
      },
      () => undefined,
    );

    const opening = connection.open();
    connection.destroy();

    await expect(opening).rejects.toThrow('gave up');
    expect(connected).not.toHaveBeenCalled();
    expect(client.done).toEqual(['destroy socket']);
  });

  it('ends what is dialled although it was given up', async () => {
    const client = new FakeProbeClient();
    const connection = new ProbeConnection(
      async () => {
        await turn();
        return client;
      },
      () => undefined,
    );

    const opening = connection.open();
    connection.destroy();

    await expect(opening).rejects.toThrow('gave up');
    expect(client.done).toEqual(['destroy socket']);
  });

  it('is not open where it was lost as it opened', async () => {
    const client = new FakeProbeClient();
    const connection = new ProbeConnection(
      async (onClient) => {
        onClient(client);
        client.emit('end');
        return client;
      },
      () => undefined,
    );

    await expect(connection.open()).rejects.toThrow('was lost as it opened');
    expect(connection.isOpen).toBe(false);
  });
});
