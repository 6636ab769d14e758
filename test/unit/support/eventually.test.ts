import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';

describe('eventually', () => {
  it('checks again until the check neither throws nor answers false', async () => {
    const answers = [new Error('not yet'), false, 'done', 'too often'];

    const answer = await eventually(
      async () => {
        const next = answers.shift();
        if (next instanceof Error) throw next;
        return next;
      },
      { everyMillis: 1 },
    );

    expect(answer).toBe('done');
    expect(answers).toEqual(['too often']);
  });

  it('takes any other answer, even none', async () => {
    await expect(eventually(() => undefined)).resolves.toBeUndefined();
  });

  it.each([
    ['what the check threw', () => expect(['up']).toEqual(['down']), /checked 1 times.*down/s],
    ['that it answered false', () => false, /answered false/],
    ['that it did not answer', () => new Promise<void>(() => undefined), /has not answered/],
  ])('says %s at last', async (_, check, message) => {
    await expect(eventually(check, { withinMillis: 10 })).rejects.toThrow(message);
  });
});
