// Starts the services behind sessions over Temporal for one test file: Temporal, PostgreSQL and Redis.
import type { PostgresServer } from './postgres.ts'
import { findPostgres, startPostgres } from './postgres.ts'
import type { RedisServer } from './redis.ts'
import { findRedis, startRedis } from './redis.ts'
import type { TemporalServer } from './temporal.ts'
import { findTemporal, startTemporal } from './temporal.ts'

export interface Services {
  readonly temporal: TemporalServer
  readonly postgres: PostgresServer
  readonly redis: RedisServer
  close(): Promise<void>
}

/** Returns `undefined` if a program is missing: `warn` gets a message, and the tests of `what` are skipped. */
export async function startServices(what: string, warn: (message: string) => void): Promise<Services | undefined> {
  const programs = [findTemporal(what, warn), findPostgres(what, warn), findRedis(what, warn)] as const
  const [temporalProgram, postgresPrograms, redisProgram] = programs
  if (temporalProgram === undefined || postgresPrograms === undefined || redisProgram === undefined) return undefined
  const temporal = await startTemporal(temporalProgram)
  const postgres = await startPostgres(postgresPrograms)
  const redis = await startRedis(redisProgram)
  const close = async (): Promise<void> => {
    await temporal.close()
    await postgres.close()
    await redis.kill()
  }
  return { temporal, postgres, redis, close }
}
