// Notices of a local host: the situations that every kind of host plays.
import { test } from 'vitest'
import { LOCAL_TELLING } from './local-telling.ts'
import { NOTICE_SITUATIONS, playSituation } from './notice-situations.ts'

test.each(Object.entries(NOTICE_SITUATIONS))(
  '%s',
  async (_, situation) => await playSituation(LOCAL_TELLING, situation)(),
)
