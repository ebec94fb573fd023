// A page of the AI SDK in this process, unmodified: its `Chat` and its transport, over a handler.
import { Chat } from '@ai-sdk/react'
import type { Agent, Store, Tool } from '@baton/core'
import type { Environment } from '@baton/core/internal'
import { tool } from '@baton/core'
import { createHost, createNodeEnvironment } from '@baton/host'
import type { ChatInit, UIMessage } from 'ai'
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai'
import { expect } from 'vitest'
import type { HandlerOptions } from './handler-parts.ts'
import { createHandler } from './handler.ts'

export interface PageParts {
  readonly agent: Agent
  readonly store?: Store
  readonly handler?: HandlerOptions
  /** Time of the host and of the handler; that of the machine by default. */
  readonly time?: Pick<Environment, 'clock' | 'timers'>
}

export function startChats({ agent, store, time, handler: options }: PageParts) {
  const transport = { post: () => Promise.reject(new Error('no network in this test')) }
  const environment = { ...createNodeEnvironment(transport), ...time }
  const host = createHost({ environment, agent, ...(store && { store }) })
  const logged: string[] = []
  const note = (message: string, data: object = {}): void => void logged.push(`${message} ${JSON.stringify(data)}`)
  const handler = createHandler(host, { log: { info: note, warn: note }, ...time, ...options })
  /** Aborts the request, like a page that is closed. */
  const fetch = async (address: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request =
      address instanceof Request ? new Request(address, init) : new Request(new URL(address, 'http://localhost'), init)
    const response = await handler(request)
    const body = response.body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal: request.signal })
    return new Response(body ?? null, response)
  }
  /** Opens a page with this chat; `id` is the session's. */
  const openPage = (
    id: string,
    more: Partial<ChatInit<UIMessage>> & { readonly body?: object } = {},
  ): Chat<UIMessage> => {
    const { body, ...init } = more
    return new Chat<UIMessage>({
      id,
      transport: new DefaultChatTransport({ fetch, ...(body && { body }) }),
      sendAutomaticallyWhen: (chat) =>
        lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat),
      ...init,
    })
  }
  return { host, handler, fetch, openPage, logged, environment, stop: () => host.stop() }
}

/** Resolves when the page is done. */
export async function settled(chat: Chat<UIMessage>, isDone: (chat: Chat<UIMessage>) => boolean): Promise<void> {
  const say = (): string => `the page is ${chat.status}: ${JSON.stringify(chat.messages.at(-1))}`
  await expect.poll(() => isDone(chat) || say(), { interval: 5 }).toBe(true)
}

export function readTexts(chat: Chat<UIMessage>): readonly string[] {
  return chat.messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''))
}

export function findTool(chat: Chat<UIMessage>, name: string): Readonly<Record<string, unknown>> {
  const part = chat.messages.at(-1)?.parts.findLast(({ type }) => type === `tool-${name}`)
  if (!part) throw new Error(`the newest message has no call of ${name}: ${JSON.stringify(chat.messages.at(-1))}`)
  return part as unknown as Readonly<Record<string, unknown>> // a part of JSON
}

/** A tool that runs until the test opens its gate. */
export function createSlowTool(): { readonly slow: Tool; readonly open: () => void } {
  const gate = Promise.withResolvers<void>()
  const slow = tool({
    name: 'slow',
    description: 'slow',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    execute: () => gate.promise.then(() => 'ready'),
  })
  return { slow, open: gate.resolve }
}
