import { describe, expect, it } from '@jest/globals';
import { endOrSever, sever } from '../../../lib/hosts/sever.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function socketed(): { readonly connection: object; readonly errors: unknown[] } {
  const errors: unknown[] = [];
  const stream = { destroy: (error?: Error) => errors.push(error) };
  return { connection: { connection: { stream } }, errors };
}

describe('sever', () => {
  it('destroys the socket with an error made for it alone', () => {
    const { connection, errors } = socketed();
    const made: Error[] = [];
    const reason = (): Error => made[made.push(new Error('silent')) - 1] ?? new Error('none');

    sever(connection, reason);
    sever(connection, reason);

    expect(errors).toEqual(made);
    expect(new Set(errors).size).toBe(2);
  });

  it.each([[{}], [{ connection: {} }], [{ connection: { stream: {} } }]])(
    'leaves a driver without a socket alone: %j',
    (connection) => {
      expect(() => sever(connection, () => new Error('silent'))).not.toThrow();
    },
  );
});

describe('endOrSever', () => {
  it('leaves the socket to the driver when that ends in time', async () => {
    const clock = new FakeClock();
    const { connection, errors } = socketed();

    await endOrSever(connection, async () => undefined, clock);

    expect(errors).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('severs a connection whose server does not see it off within a second', async () => {
    const clock = new FakeClock();
    const { connection, errors } = socketed();
    let finish = (): void => undefined;
    const ending = endOrSever(
      connection,
      () => new Promise<void>((resolve) => (finish = resolve)),
      clock,
    );

    clock.advance(999);
    expect(errors).toEqual([]);
    clock.advance(1);
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringMatching(/end/) })]);
    finish();
    await ending;
  });

  it('leaves no timer when the driver fails', async () => {
    const clock = new FakeClock();
    const fail = (): Promise<never> => Promise.reject(new Error('ended before'));

    await expect(endOrSever({}, fail, clock)).rejects.toThrow('ended before');

    expect(clock.pending).toBe(0);
  });
});
