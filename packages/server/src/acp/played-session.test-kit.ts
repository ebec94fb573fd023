// A session played by the test, behind the open sessions of one editor: its openings, answers and events come when the
// test says so.
import type { FrontSession } from '@baton/core/internal'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect } from 'vitest'
import type { HostWithSessions } from '../shared/check-options.ts'
import { OpenSessions } from './open-sessions.ts'
import { readAcpOptions } from './options.ts'
import type { Wire } from './wire.ts'

export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => void setImmediate(resolve))
}
export const PLACE = { cwd: '/work', additionalDirectories: [], mcpServers: [] }
export const WIRE: Wire = { gone: new AbortController().signal, tell: async () => {}, askPermission: async () => ({}) }

/** Time controlled by the test, and the host's sessions. */
export function createWorld(limits: { readonly sessions?: number; readonly prompts?: number } = {}) {
  const timers = new Set<() => void>()
  const done: string[] = []
  const openings: (() => Promise<unknown>)[] = []
  const streams: ((batch: object | undefined) => void)[] = []
  let meta: object = { cwd: '/work' }
  let said = async (): Promise<object> => ({ type: 'accepted' })
  let interrupted = Promise.resolve()
  let rewound = async (): Promise<object> => ({ type: 'accepted', pos: 1, turn: 'm1' })
  const events = ({ from }: { readonly from: unknown }) => {
    done.push(`events ${JSON.stringify(from)}`)
    const waiting: (object | undefined)[] = []
    let wake = (): void => {}
    const push = (batch: object | undefined): void => {
      waiting.push(batch)
      wake()
    }
    streams.push(push)
    const nextBatch = async () => {
      while (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return waiting.shift()
    }
    return { nextBatch, leave: () => push(undefined) }
  }
  const createSession = () =>
    ({
      id: 's',
      info: async () => ({ meta, activity: 'idle', head: { pos: 1 }, plan: [], model: 'm', models: ['m'] }),
      describe: async (given: { readonly meta: object }) => void (meta = given.meta),
      approvals: async () => [],
      questions: async () => [],
      events,
      interrupt: () => interrupted,
      submit: () => said(),
      messages: async () => ({ messages: [{ id: 't1', role: 'assistant' }] }),
      rewind: () => rewound(),
      takeBack: async (input: string) => void done.push(`take back ${input}`),
      close: async () => void done.push('close'),
    }) as unknown as FrontSession // the parts in use
  const host = {
    has: async () => true,
    session: async () => {
      done.push('open')
      await openings.shift()?.()
      return createSession()
    },
  } as unknown as HostWithSessions // likewise
  const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: [] }) })
  const start = (_ms: number, callback: () => void) => {
    timers.add(callback)
    return () => void timers.delete(callback)
  }
  const parts = readAcpOptions('test', { agent, timers: { start }, limits })
  const sessions = new OpenSessions(host, parts, { createWire: () => WIRE, createEditor: () => ({}) })
  return {
    parts,
    sessions,
    done,
    timers,
    createSession,
    /** Replaces the host's next opening. */
    next: (opening: () => Promise<unknown>) => void openings.push(opening),
    answer: (answer: () => Promise<object>) => void (said = answer),
    rewind: (answer: () => Promise<object>) => void (rewound = answer),
    /** Lets interrupts wait. */
    holdInterrupts: (gate: Promise<void>) => void (interrupted = gate),
    meta: () => meta,
    tell: (batch: object | undefined) => streams.at(-1)?.(batch),
    pass: () => {
      for (const fire of timers) {
        timers.delete(fire)
        fire()
      }
    },
    /** An open session that the host has released since. */
    lose: async () => {
      const opened = await sessions.open('s', PLACE)
      await opened.start('now')
      streams.at(-1)?.({ events: [], next: { pos: 7 } })
      streams.at(-1)?.(undefined)
      await settle()
      expect(opened.isAway).toBe(true)
      done.length = 0
      return opened
    },
  }
}
