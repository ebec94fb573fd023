// Deliveries of Slack to an app: signed events with their retries, clicks and submitted views, as its reference describes them
// (docs.slack.dev/apis/events-api and /interactivity, seen in 2026-11). It fails a test if an app answers late or wrongly.
import { isJsonObject } from '@baton/core/internal'
import { createHmac } from 'node:crypto'
import type { FakeMessage, SlackFake } from './fake-slack.ts'
import { TEAM } from './fake-slack.ts'

export const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5'
const ACK_MS = 3000
const RETRIES_MAX = 3

/** The app that takes deliveries: its handler, or something that passes them to its server. */
export type App = (request: Request) => Promise<Response>

export interface DeliveriesOptions {
  readonly slack: SlackFake
  readonly app: App
  readonly secret?: string
  readonly nowMs?: () => number
}

export interface Clicked {
  readonly user: string
  readonly team?: string
}

export function createDeliveries(init: DeliveriesOptions): Deliveries {
  return new Deliveries(init)
}

class Deliveries {
  readonly #init: DeliveriesOptions
  #serial = 0

  constructor(init: DeliveriesOptions) {
    this.#init = init
  }

  async send(path: string, type: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
    const { app, secret = SIGNING_SECRET, nowMs = Date.now } = this.#init
    const timestamp = String(Math.floor(nowMs() / 1000))
    const signature = `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`
    const signed = { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': signature, 'content-type': type }
    const request = new Request(`http://app.example${path}`, {
      method: 'POST',
      headers: { ...signed, ...headers },
      body,
    })
    const sentMs = performance.now()
    const response = await app(request)
    if (performance.now() - sentMs > ACK_MS) throw new Error(`the app answered ${path} after more than 3 seconds`)
    return response
  }
  /** Delivers an event until it is acknowledged, up to four times. Returns the statuses. */
  async deliver(event: object, { eventId = `Ev${(this.#serial += 1)}`, repeat = 0 } = {}): Promise<readonly number[]> {
    const { nowMs = Date.now } = this.#init
    const body = JSON.stringify({
      token: 'verification',
      team_id: TEAM,
      api_app_id: 'A0APP',
      type: 'event_callback',
      event_id: eventId,
      event_time: Math.floor(nowMs() / 1000),
      event,
    })
    const statuses: number[] = []
    for (let retry = 0; retry <= RETRIES_MAX; retry++) {
      const headers: Record<string, string> =
        retry === 0 ? {} : { 'x-slack-retry-num': String(retry), 'x-slack-retry-reason': 'http_timeout' }
      const { status } = await this.send('/slack/events', 'application/json', body, headers)
      statuses.push(status)
      if (status >= 200 && status < 300 && retry >= repeat) break
    }
    return statuses
  }
  async interact(payload: object): Promise<Response> {
    const body = `payload=${encodeURIComponent(JSON.stringify(payload))}`
    return await this.send('/slack/interactivity', 'application/x-www-form-urlencoded', body)
  }

  #describe({ user, team = TEAM }: Clicked) {
    return {
      user: { id: user, username: 'the.boss', name: 'the.boss', team_id: team },
      team: { id: TEAM, domain: 'acme' },
      api_app_id: 'A0APP',
      trigger_id: this.#init.slack.makeTrigger(user),
    }
  }

  /** A person's message, with the events that Slack sends for it. */
  mention(message: FakeMessage, options?: { readonly repeat?: number; readonly eventId?: string }) {
    return this.deliver(
      {
        type: 'app_mention',
        user: message.user,
        text: message.text,
        ts: message.ts,
        channel: message.channel,
        event_ts: message.ts,
        ...(message.threadTs !== undefined && { thread_ts: message.threadTs }),
      },
      options,
    )
  }

  message(message: FakeMessage, more: object = {}) {
    return this.deliver({
      type: 'message',
      channel_type: this.#init.slack.channels.get(message.channel)?.isIm === true ? 'im' : 'channel',
      user: message.user,
      text: message.text,
      ts: message.ts,
      channel: message.channel,
      event_ts: message.ts,
      ...(message.threadTs !== undefined && { thread_ts: message.threadTs }),
      ...more,
    })
  }

  /** Clicks a button that the message has. `shown`: the message as it was when the person saw it. */
  async click(message: FakeMessage, label: string, by: Clicked, shown: Pick<FakeMessage, 'blocks'> = message) {
    const button = findButtons(shown).find(({ text }) => text === label)
    if (!button) throw new Error(`the message has no button "${label}"`)
    return await this.interact({
      type: 'block_actions',
      ...this.#describe(by),
      container: { type: 'message', message_ts: message.ts, channel_id: message.channel, is_ephemeral: false },
      channel: { id: message.channel, name: 'pay' },
      message: {
        ts: message.ts,
        text: message.text,
        blocks: shown.blocks,
        ...(message.threadTs !== undefined && { thread_ts: message.threadTs }),
      },
      response_url: 'https://hooks.slack.com/actions/T0/1/x',
      actions: [
        {
          type: 'button',
          action_id: button.actionId,
          block_id: button.blockId,
          value: button.value,
          action_ts: '1.1',
        },
      ],
    })
  }

  /** Submits the newest open view. Values by block id. Returns the errors that the view shows, if it stays open. */
  async submit(
    values: Readonly<Record<string, string>>,
    by: Clicked,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    const open = this.#init.slack.views.findLast(({ isOpen, user }) => isOpen && user === by.user)
    if (!open) throw new Error('no view is open')
    const blocks = open.view['blocks'] as readonly Readonly<Record<string, unknown>>[] // checked when it was opened
    const state: Record<string, Record<string, unknown>> = {}
    for (const { type, block_id: id, element } of blocks)
      if (type === 'input' && isJsonObject(element))
        state[String(id)] = {
          [JSON.stringify(element['action_id']).slice(1, -1)]: {
            type: 'plain_text_input',
            value: values[String(id)] ?? element['initial_value'] ?? null,
          },
        }
    const { callback_id, private_metadata = '' } = open.view
    const response = await this.interact({
      type: 'view_submission',
      ...this.#describe(by),
      view: { id: open.id, type: 'modal', callback_id, private_metadata, blocks, state: { values: state } },
    })
    if (response.status !== 200) throw new Error(`a submitted view got ${response.status}`)
    const text = await response.text()
    if (text === '') {
      open.isOpen = false
      return undefined
    }
    const answer = JSON.parse(text) as { response_action?: string; errors?: Record<string, string> } // of the app
    if (answer.response_action === 'clear') open.isOpen = false
    else if (answer.response_action !== 'errors') throw new Error(`an unknown response_action: ${text}`)
    for (const id of Object.keys(answer.errors ?? {}))
      if (!(id in state)) throw new Error(`the view has no input block "${id}"`)
    return answer.errors
  }
}

interface Button {
  readonly text: string
  readonly actionId: string
  readonly blockId: string
  readonly value: string
}

/** The buttons that a message has now. */
export function findButtons({ blocks }: Pick<FakeMessage, 'blocks'>): readonly Button[] {
  return blocks.flatMap((block) =>
    block['type'] === 'actions'
      ? (block['elements'] as readonly { text: { text: string }; action_id: string; value: string }[]).map(
          ({ text, action_id: actionId, value }) => ({
            text: text.text,
            actionId,
            blockId: String(block['block_id']),
            value,
          }),
        )
      : [],
  )
}
