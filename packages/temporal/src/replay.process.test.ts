// Replays histories of finished runs against the current workflows: a running session continues with the next version.
import { temporal } from '@temporalio/proto'
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker'
import { Worker } from '@temporalio/worker'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { bundleWorkflows, sendTemporalLogs } from './index.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [field: string]: Json }

const FOLDER = join(import.meta.dirname, '../histories')
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))

const { History } = temporal.api.history.v1

/** In the format of `temporal workflow show --output json`. */
function readHistory(file: string): temporal.api.history.v1.History {
  return History.fromObject(readTimes(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Json) as object) // of events
}

/** Converts times and durations to protobuf's own classes; only these are strings in JSON. */
function readTimes(value: Json, field = ''): Json {
  if (Array.isArray(value)) return value.map((one: Json) => readTimes(one))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, readTimes(one, name)]))
  if (typeof value !== 'string') return value
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return { seconds: Math.floor(Date.parse(value) / 1000), nanos: 0 }
  const [, seconds, fraction = ''] = /^(\d+)(?:\.(\d+))?s$/.exec(field === 'data' ? '' : value) ?? []
  return seconds === undefined ? value : { seconds: Number(seconds), nanos: Number(fraction.padEnd(9, '0')) }
}

describe('old histories', () => {
  let workflowBundle: WorkflowBundleWithSourceMap
  beforeAll(async () => {
    sendTemporalLogs({ info: () => {}, warn: () => {} })
    workflowBundle = await bundleWorkflows()
  })

  test('there are some of each situation', () => {
    expect(files.length).toBeGreaterThanOrEqual(5)
  })

  test.each(files)('%s is replayed by today’s workflows', async (file) => {
    await Worker.runReplayHistory({ workflowBundle }, readHistory(file), 'replayed')
  })

  test('a goal that an earlier version started with a principal as text is replayed', async () => {
    const history = readHistory('0.1.0/goal.json')
    const [payload] = history.events[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
    const start = JSON.parse(Buffer.from(payload?.data ?? []).toString()) as object
    if (payload) payload.data = Buffer.from(JSON.stringify({ ...start, principal: 'anonymous' }))
    await Worker.runReplayHistory({ workflowBundle }, history, 'replayed')
  })

  test.each(files)('%s is refused where it has another command', async (file) => {
    const history = readHistory(file)
    const scheduled = history.events.find((event) => event.activityTaskScheduledEventAttributes)
    const activity = scheduled?.activityTaskScheduledEventAttributes?.activityType
    if (activity) activity.name = 'other'
    expect(activity).toBeDefined()
    await expect(Worker.runReplayHistory({ workflowBundle }, history, 'replayed')).rejects.toThrow(/determinism/i)
  })
})
