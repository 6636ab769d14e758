import { driver } from './driver.ts';
import {
  own,
  ownAlone,
  ownAlonePrepared,
  ownAloneSession,
  ownPrepared,
  ownSession,
  plainKnex,
  twoInstances,
} from './knex-subjects.ts';
import { peers } from './peers.ts';
import { pgpool } from './pgpool.ts';
import type { Subject } from './subject.ts';

/** All that is compared, in the order of the tables. */
export const subjects: readonly Subject[] = [
  driver,
  plainKnex,
  ownAlone,
  ownAloneSession,
  ownAlonePrepared,
  own,
  ownSession,
  ownPrepared,
  twoInstances,
  ...peers,
  pgpool,
];
