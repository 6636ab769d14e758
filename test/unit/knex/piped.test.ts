import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Answer } from '../../../lib/consistency/questions.ts';
import { ask } from '../../../lib/knex/question.ts';
import type { Beside as Told, Piped } from '../../../lib/knex/beside.ts';
import { piped } from '../../../lib/knex/piped.ts';
import { FakePipingClient } from '../../support/fake-piping-client.ts';
import { settle } from '../../support/fake-servers.ts';

type Beside = Omit<Told, 'text'>;

const both = { before: 'before', behind: 'behind', canShare: true };
const lost = new Error('Connection terminated unexpectedly');

const sendNow = (client: object): Promise<unknown> =>
  (client as FakePipingClient).query({ text: 'statement' });

/** As an application's client class may do, which looks something up first. */
const sendLater = async (client: object): Promise<unknown> => {
  await settle();
  return sendNow(client);
};

const sendAndThrow = (): Promise<unknown> => {
  throw new Error('Undefined binding');
};

interface Run {
  readonly client: FakePipingClient;
  /** Undefined while anything is unanswered. */
  readonly outcome: () => Promise<Piped<unknown> | undefined>;
}

function run(
  client: FakePipingClient,
  beside: Beside = both,
  send: (client: object) => Promise<unknown> = sendNow,
): Run {
  let outcome: Piped<unknown> | undefined;
  const done = piped(client, send, { text: 'statement', ...beside }).then(
    (answers) => (outcome = answers),
  );
  return {
    client,
    outcome: async () => {
      await Promise.race([done, settle()]);
      return outcome;
    },
  };
}

/** Answers one thing after the other, until nothing is left. */
async function answerAll(
  { client, outcome }: Run,
  ...answers: readonly (Answer | Error)[]
): Promise<Piped<unknown> | undefined> {
  for (const answer of answers) {
    // oxlint-disable-next-line no-await-in-loop -- what is sent next may wait for the answer.
    await settle();
    client.answer(answer instanceof Error ? answer : [answer]);
  }
  return outcome();
}

const [one, two, three] = [{ lsn: '0/1' }, { lsn: '0/2' }, { lsn: '0/3' }];
const ok = (value: Answer): object => ({ status: 'fulfilled', value: { rows: [value] } });

const shared = ['send before, piped', 'send statement, piped', 'send behind, piped'];
const inTurn = [
  'send before',
  'answer before',
  'send statement',
  'answer statement',
  'send behind',
  'answer behind',
];

describe('piped', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('sends all at once where the driver can, and the connection is idle', async () => {
    const { client, outcome } = run(new FakePipingClient(false));

    expect(client.log).toEqual(shared);
    expect(await outcome()).toBeUndefined();
    expect(client.pipeline).toBe(true);
    expect(await answerAll({ client, outcome }, one, two, three)).toMatchObject({
      before: one,
      result: ok(two),
      behind: three,
      refusal: undefined,
    });
    expect(client.pipeline).toBe(false);
  });

  it.each<[string, Beside, string[]]>([
    ['before', { before: 'before', canShare: true }, shared.slice(0, 2)],
    ['behind', { behind: 'behind', canShare: true }, shared.slice(1)],
    ['beside', { canShare: true }, shared.slice(1, 2)],
  ])('asks only what there is to ask %s the statement', async (_, beside, sent) => {
    const { client, outcome } = run(new FakePipingClient(false), beside);
    expect(client.log).toEqual(sent);

    const answers = await answerAll({ client, outcome }, ...sent.map(() => one));

    expect(answers?.result).toEqual(ok(one));
    expect([answers?.before !== undefined, answers?.behind !== undefined]).toEqual([
      beside.before !== undefined,
      beside.behind !== undefined,
    ]);
  });

  it.each<[string, FakePipingClient, Beside]>([
    ['an older driver', new FakePipingClient(undefined), both],
    ['what can share nothing', new FakePipingClient(false), { ...both, canShare: false }],
  ])('sends one after the other for %s', async (_, client, beside) => {
    const flag = client.pipeline;

    const answers = await answerAll(run(client, beside), one, two, three);

    expect(client.log).toEqual(inTurn);
    expect(answers).toMatchObject({
      before: one,
      result: ok(two),
      behind: three,
      refusal: undefined,
    });
    expect(client.pipeline).toBe(flag);
  });

  it('never lets the driver pipe on a connection that is busy', async () => {
    const client = new FakePipingClient(false);
    const earlier = client.query({ text: 'earlier' });

    const answers = await answerAll(run(client), {}, one, two, three);

    await earlier;
    expect(client.log).toEqual(['send earlier', 'answer earlier', ...inTurn]);
    expect(answers?.result).toEqual(ok(two));
  });

  it('leaves the flag as the application had it', async () => {
    const client = new FakePipingClient(true);

    await answerAll(run(client), one, two, three);

    expect(client.pipeline).toBe(true);
  });

  it('leaves the flag off where the next statement begins as the last one ends', async () => {
    const client = new FakePipingClient(false);
    run(client, { behind: 'behind', canShare: true });
    client.answer();
    client.answer();

    await answerAll(run(client), one, two, three);

    expect(client.pipeline).toBe(false);
  });

  it('lets nothing overtake a statement that is sent later', async () => {
    const client = new FakePipingClient(false);
    const deferred = run(client, both, sendLater);
    expect(client.log).toEqual(shared.slice(0, 1));
    await settle();

    const answers = await answerAll(deferred, one, two, three);

    expect(client.log).toEqual([
      ...shared.slice(0, 2),
      'answer before',
      'answer statement',
      ...shared.slice(2),
      'answer behind',
    ]);
    expect(answers).toMatchObject({ before: one, result: ok(two), behind: three });
    expect(client.pipeline).toBe(false);
  });

  it('lets nothing overtake one that is sent later, without a question before it', async () => {
    const client = new FakePipingClient(false);
    const deferred = run(client, { behind: 'behind', canShare: true }, sendLater);
    expect(client.log).toEqual([]);
    await settle();

    const answers = await answerAll(deferred, one, two);

    expect(client.log.filter((line) => !line.startsWith('answer'))).toEqual(shared.slice(1));
    expect(answers).toMatchObject({ result: ok(one), behind: two });
  });

  it.each([
    ['shared', new FakePipingClient(false)],
    ['one after the other', new FakePipingClient(undefined)],
  ])(
    'asks what it was to ask, and fails no other way, where sending throws: %s',
    async (_, client) => {
      const { pipeline } = client;

      const answers = await answerAll(run(client, both, sendAndThrow), one, three);

      expect(answers).toMatchObject({
        before: one,
        result: { status: 'rejected', reason: new Error('Undefined binding') },
        behind: three,
        refusal: undefined,
      });
      expect(client.pipeline).toBe(pipeline);
    },
  );

  it.each([
    ['the question before it', 0],
    ['the statement', 1],
    ['the question behind it', 2],
  ])('keeps the other answers where the server refuses %s', async (_, refused) => {
    const client = new FakePipingClient(false);
    const error = new Error('permission denied');
    const told = [one, two, three].map((answer, i) => (i === refused ? error : answer));

    const answers = await answerAll(run(client), ...told);

    expect(answers).toMatchObject({
      before: refused === 0 ? undefined : one,
      result: refused === 1 ? { status: 'rejected', reason: error } : ok(two),
      behind: refused === 2 ? undefined : three,
      refusal: refused === 1 ? undefined : error,
    });
  });

  it.each<[string, boolean | undefined]>([
    ['at once', false],
    ['one after the other', undefined],
  ])('says so where the connection is lost, and resolves: %s', async (_, pipeline) => {
    const client = new FakePipingClient(pipeline);
    const { outcome } = run(client);

    for (let i = 0; i < 3; i++) {
      client.lose(lost);
      // oxlint-disable-next-line no-await-in-loop -- what is asked next is lost, too.
      await settle();
    }

    expect(await outcome()).toMatchObject({
      before: undefined,
      result: { status: 'rejected', reason: lost },
      behind: undefined,
      refusal: lost,
    });
    expect(client.pipeline).toBe(pipeline);
  });

  describe('with a say in whether it goes on', () => {
    it('leaves the driver switched until all is answered, where the statement fails first', async () => {
      // So that the time that it is waited for is not up in between.
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
      const client = new FakePipingClient(false);
      const { outcome } = run(client, { ...both, mayGoOn: () => false });

      client.answer([one]);
      client.answer(new Error('division by zero'));
      await settle();
      const switched = client.pipeline;
      client.answer([three]);

      expect(await outcome()).toMatchObject({ result: { status: 'rejected' }, isBusy: false });
      expect([switched, client.pipeline]).toEqual([true, false]);
    });

    it.each([true, false])(
      'sends the statement, or not, by the first answer: %s',
      async (goesOn) => {
        const seen: unknown[] = [];
        const client = new FakePipingClient(undefined);
        const mayGoOn = (answer: Answer | undefined): boolean => {
          seen.push(answer);
          return goesOn;
        };

        const answers = await answerAll(
          run(client, { ...both, mayGoOn }),
          ...(goesOn ? [one, two, three] : [one]),
        );

        expect(client.log).toEqual(goesOn ? inTurn : inTurn.slice(0, 2));
        expect(seen).toEqual([one]);
        expect(answers).toMatchObject({ before: one, refusal: undefined });
        expect(answers?.result).toEqual(goesOn ? ok(two) : undefined);
      },
    );

    it('tells why there is no answer to go on with', async () => {
      const client = new FakePipingClient(undefined);
      const error = new Error('permission denied');

      const answers = await answerAll(run(client, { ...both, mayGoOn: () => false }), error);

      expect(answers).toMatchObject({
        before: undefined,
        result: undefined,
        behind: undefined,
        refusal: error,
      });
    });

    it('does not wait for the answer where all is on its way at once', () => {
      const { client } = run(new FakePipingClient(false), { ...both, mayGoOn: () => false });

      expect(client.log).toEqual(shared);
    });
  });

  describe('where the connection falls silent', () => {
    const silent = async (
      beside: Beside,
      ...answers: readonly Answer[]
    ): Promise<
      Run & { readonly pass: (millis: number) => Promise<Piped<unknown> | undefined> }
    > => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
      const running = run(new FakePipingClient(false), beside);
      for (const answer of answers) running.client.answer([answer]);
      const pass = async (millis: number): Promise<Piped<unknown> | undefined> => {
        await settle();
        jest.advanceTimersByTime(millis);
        return running.outcome();
      };
      return { ...running, pass };
    };

    it('waits a second for the position of what is answered, and gives the connection up', async () => {
      const { pass, client } = await silent({ behind: 'behind', canShare: true }, one);

      expect(await pass(990)).toBeUndefined();
      expect(await pass(20)).toMatchObject({ result: ok(one), behind: undefined, isBusy: true });
      // The driver must not lose count of the answers.
      expect(client.pipeline).toBe(true);
    });

    it('waits for the answer to a statement as long as that takes', async () => {
      const { pass, client, outcome } = await silent({ behind: 'behind', canShare: true });

      expect(await pass(60_000)).toBeUndefined();
      client.answer([one]);
      client.answer([two]);
      expect(await outcome()).toMatchObject({ result: ok(one), behind: two, isBusy: false });
      expect(client.pipeline).toBe(false);
    });

    it('switches the flag off as soon as all is answered after all', async () => {
      const { pass, client } = await silent({ behind: 'behind', canShare: true }, one);
      expect(await pass(1010)).toMatchObject({ isBusy: true });

      client.answer([two]);
      await settle();

      expect(client.pipeline).toBe(false);
    });

    it('waits a moment for what nobody wants any more, and gives the connection up', async () => {
      const unwanted = { ...both, mayGoOn: () => false };
      const { pass, client } = await silent(unwanted, one);

      expect(await pass(10)).toBeUndefined();
      expect(await pass(20)).toMatchObject({ before: one, result: undefined, isBusy: true });
      expect(client.pipeline).toBe(true);
    });
  });

  it.each<[string, FakePipingClient]>([
    ['an older driver', new FakePipingClient(undefined)],
    ['a statement that was sent later', new FakePipingClient(false)],
  ])('asks nothing behind on a connection that is given up meanwhile: %s', async (_, client) => {
    let isOurs = true;
    const running = run(client, { ...both, isOurs: () => isOurs }, sendLater);
    await settle();
    client.answer([one]);
    await settle();
    await settle();

    isOurs = false;
    client.answer([two]);

    expect(await running.outcome()).toMatchObject({ result: ok(two), behind: undefined });
    expect(client.log.at(-1)).toBe('answer statement');
  });
});

describe('ask', () => {
  it('answers with the first row, as the server wrote it', async () => {
    const client = new FakePipingClient(false);
    const asked = ask(client, 'question');

    client.answer([one, two]);

    expect(await asked).toEqual({ status: 'fulfilled', value: one });
    expect(client.types[0]?.getTypeParser()('0/1')).toBe('0/1');
  });

  it('answers with nothing where there is no row', async () => {
    const client = new FakePipingClient(false);
    const asked = ask(client, 'question');

    client.answer([]);

    expect(await asked).toEqual({ status: 'fulfilled', value: undefined });
  });
});
