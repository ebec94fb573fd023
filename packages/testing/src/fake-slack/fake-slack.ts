// A strict Slack for tests: the Web API over HTTP, made from its public reference (docs.slack.dev/reference/methods, seen in
// 2026-11) before the code that it judges. It refuses what Slack refuses, with Slack's words, and answers 200 to it.
import { isJsonObject, parseJson } from '@baton/core/internal'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { findBlocksIssue, findViewIssue } from './block-limits.ts'

export const TEAM = 'T0TEAM'
export const BOT_USER = 'U0BOT'
export const BOT_TOKEN = ['xoxb', '0000', 'fake'].join('-') // in one piece, scanners take it for a secret

type Args = Readonly<Record<string, unknown>>

export interface FakeMessage {
  readonly channel: string
  readonly ts: string
  readonly user: string
  threadTs?: string
  text: string
  blocks: readonly Args[]
}

export interface FakeView {
  readonly id: string
  readonly user: string
  readonly view: Args
  isOpen: boolean
}

export interface FakeChannel {
  readonly members: Set<string>
  readonly isIm?: boolean
}

export interface SlackFake {
  readonly apiUrl: string
  readonly channels: Map<string, FakeChannel>
  readonly messages: FakeMessage[]
  /** Messages that only one user sees. */
  readonly ephemeral: {
    readonly channel: string
    readonly user: string
    readonly text: string
    readonly threadTs?: string
  }[]
  readonly views: FakeView[]
  /** Each call, refused ones included. */
  readonly calls: { readonly method: string; readonly args: Args; readonly error?: string }[]
  /** A trigger id, which lasts 3 seconds and works once. */
  makeTrigger(user: string): string
  /** Refuses the next calls of a method with 429, or any error; `seconds` of `Retry-After`. */
  refuse(method: string, error: string, options?: { readonly times?: number; readonly seconds?: number }): void
  /** Posts as a person. */
  say(channel: string, user: string, text: string, threadTs?: string): FakeMessage
  close(): Promise<void>
}

const TEXT_MAX = 40_000
const MARKDOWN_MAX = 12_000
const TRIGGER_MS = 3000

export async function startSlackFake(nowMs: () => number = Date.now): Promise<SlackFake> {
  const slack = new FakeWorkspace(nowMs)
  const server = createServer((request, response) => {
    slack.answer(request, response).catch((cause: unknown) => {
      response.writeHead(500).end(String(cause))
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  slack.apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`
  slack.close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => void server.close(resolve))
  }
  return slack
}

class FakeWorkspace implements SlackFake {
  apiUrl = ''
  readonly channels = new Map<string, FakeChannel>()
  readonly messages: FakeMessage[] = []
  readonly ephemeral: SlackFake['ephemeral'] = []
  readonly views: FakeView[] = []
  readonly calls: SlackFake['calls'] = []
  close = (): Promise<void> => Promise.resolve()
  readonly #nowMs: () => number
  readonly #triggers = new Map<string, { readonly atMs: number; readonly user: string; isUsed: boolean }>()
  readonly #refusals: { readonly method: string; readonly error: string; readonly seconds: number }[] = []
  #serial = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  makeTrigger(user: string): string {
    const id = `trigger.${(this.#serial += 1)}`
    this.#triggers.set(id, { atMs: this.#nowMs(), user, isUsed: false })
    return id
  }

  refuse(method: string, error: string, { times = 1, seconds = 1 } = {}): void {
    for (let count = 0; count < times; count++) this.#refusals.push({ method, error, seconds })
  }

  say(channel: string, user: string, text: string, threadTs?: string): FakeMessage {
    return this.#add({ channel, user, text, blocks: [], ...(threadTs !== undefined && { threadTs }) })
  }

  #add(message: Omit<FakeMessage, 'ts'>): FakeMessage {
    const ts = `${Math.floor(this.#nowMs() / 1000)}.${String((this.#serial += 1)).padStart(6, '0')}`
    const added = { ...message, ts }
    this.messages.push(added)
    return added
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const method = (request.url ?? '').replace(/^\/api\//, '')
    const args = readArguments(request, Buffer.concat(pieces).toString())
    const outcome = this.#check(request, method, args)
    this.calls.push({ method, args: args ?? {}, ...(outcome.ok === false && { error: String(outcome['error']) }) })
    const { seconds, ...body } = outcome
    const limited = body['error'] === 'ratelimited'
    response.writeHead(limited ? 429 : 200, {
      'content-type': 'application/json; charset=utf-8',
      ...(limited && { 'retry-after': String(seconds) }),
    })
    response.end(JSON.stringify(body))
  }

  #check(request: IncomingMessage, method: string, args: Args | undefined): Outcome {
    const authorization = request.headers.authorization
    if (request.method !== 'POST') return refused('invalid_post_type')
    if (authorization === undefined) return refused('not_authed')
    if (authorization !== `Bearer ${BOT_TOKEN}`) return refused('invalid_auth')
    const act = METHODS[method]
    if (!act) return refused('unknown_method')
    if (!args) return refused('invalid_json')
    const index = this.#refusals.findIndex((one) => one.method === method)
    const [refusal] = index < 0 ? [] : this.#refusals.splice(index, 1)
    if (refusal) return { ...refused(refusal.error), seconds: refusal.seconds }
    const unknown = Object.keys(args).find((name) => !act.args.includes(name))
    if (unknown !== undefined) return refused('invalid_arguments', `unknown argument: ${unknown}`)
    return act.run(this, args)
  }

  findChannel(args: Args): FakeChannel | Outcome {
    const channel = typeof args['channel'] === 'string' ? this.channels.get(args['channel']) : undefined
    if (!channel) return refused('channel_not_found')
    return channel.members.has(BOT_USER) ? channel : refused('not_in_channel')
  }

  findContentIssue(args: Args): Outcome | undefined {
    const { text, blocks, markdown_text: markdown } = args
    if (markdown !== undefined) {
      if (text !== undefined || blocks !== undefined) return refused('markdown_text_conflict')
      if (typeof markdown !== 'string' || markdown === '') return refused('no_text')
      return markdown.length > MARKDOWN_MAX ? refused('msg_too_long') : undefined
    }
    if (blocks !== undefined && !Array.isArray(blocks)) return refused('invalid_blocks_format')
    if ((typeof text !== 'string' || text === '') && (!Array.isArray(blocks) || blocks.length === 0))
      return refused('no_text')
    if (typeof text === 'string' && text.length > TEXT_MAX) return refused('msg_too_long')
    const issue = blocks === undefined ? undefined : findBlocksIssue(blocks, 'message')
    return issue === undefined ? undefined : refused('invalid_blocks', issue)
  }

  post(args: Args): Outcome {
    const { channel, thread_ts: thread, text = args['markdown_text'] ?? '', blocks = [] } = args
    const parent = this.messages.find((one) => one.channel === channel && one.ts === thread)
    if (thread !== undefined && (!parent || parent.threadTs !== undefined)) return refused('thread_not_found')
    const message = this.#add({
      channel: String(channel),
      user: BOT_USER,
      text: String(text),
      blocks: blocks as readonly Args[], // checked by findContentIssue
      ...(typeof thread === 'string' && { threadTs: thread }),
    })
    return { ok: true, channel: message.channel, ts: message.ts, message: { ...message, bot_id: 'B0BOT' } }
  }

  update(args: Args): Outcome {
    const message = this.messages.find((one) => one.channel === args['channel'] && one.ts === args['ts'])
    if (!message) return refused('message_not_found')
    if (message.user !== BOT_USER) return refused('cant_update_message')
    if (args['text'] !== undefined || args['markdown_text'] !== undefined)
      message.text = String(args['text'] ?? args['markdown_text'])
    if (args['blocks'] !== undefined) message.blocks = args['blocks'] as readonly Args[] // checked by findContentIssue
    return { ok: true, channel: message.channel, ts: message.ts, text: message.text }
  }

  whisper(args: Args, channel: FakeChannel): Outcome {
    const { user, text, thread_ts: thread } = args
    if (typeof user !== 'string' || !channel.members.has(user)) return refused('user_not_in_channel')
    this.ephemeral.push({
      channel: String(args['channel']),
      user,
      text: String(text),
      ...(typeof thread === 'string' && { threadTs: thread }),
    })
    return { ok: true, message_ts: '1.000001' }
  }

  openView(args: Args): Outcome {
    const trigger = this.#triggers.get(String(args['trigger_id']))
    if (!trigger) return refused('invalid_trigger_id')
    if (trigger.isUsed) return refused('exchanged_trigger_id')
    if (this.#nowMs() - trigger.atMs > TRIGGER_MS) return refused('expired_trigger_id')
    const issue = findViewIssue(args['view'])
    if (issue !== undefined) return refused('invalid_arguments', issue)
    trigger.isUsed = true
    const id = `V${(this.#serial += 1)}`
    this.views.push({ id, user: trigger.user, view: args['view'] as Args, isOpen: true })
    return { ok: true, view: { id } }
  }
}

type Outcome = Args & { readonly ok: boolean; readonly seconds?: number }

function refused(error: string, message?: string): Outcome {
  return { ok: false, error, ...(message !== undefined && { response_metadata: { messages: [`[ERROR] ${message}`] } }) }
}

function isRefused(value: FakeChannel | Outcome): value is Outcome {
  return 'ok' in value
}

interface Method {
  readonly args: readonly string[]
  run(slack: FakeWorkspace, args: Args): Outcome
}

const inChannel =
  (run: (slack: FakeWorkspace, args: Args, channel: FakeChannel) => Outcome): Method['run'] =>
  (slack, args) => {
    const channel = slack.findChannel(args)
    return isRefused(channel) ? channel : run(slack, args, channel)
  }

const METHODS: Readonly<Record<string, Method>> = {
  'chat.postMessage': {
    args: [
      'channel',
      'text',
      'blocks',
      'markdown_text',
      'thread_ts',
      'mrkdwn',
      'unfurl_links',
      'unfurl_media',
      'metadata',
    ],
    run: inChannel((slack, args) => slack.findContentIssue(args) ?? slack.post(args)),
  },
  'chat.update': {
    args: ['channel', 'ts', 'text', 'blocks', 'markdown_text', 'metadata'],
    run: inChannel((slack, args) => slack.findContentIssue(args) ?? slack.update(args)),
  },
  'chat.postEphemeral': {
    args: ['channel', 'user', 'text', 'blocks', 'thread_ts'],
    run: inChannel((slack, args, channel) => slack.findContentIssue(args) ?? slack.whisper(args, channel)),
  },
  'views.open': { args: ['trigger_id', 'view'], run: (slack, args) => slack.openView(args) },
}

/** Undefined for a body that is not JSON. */
function readArguments(request: IncomingMessage, body: string): Args | undefined {
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(body))
  if (!type.startsWith('application/json')) return {}
  const parsed = parseJson(body)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined
}
