// A request for a person as a message of Slack. Texts of models and tools are plain text or preformatted there, so that none
// of them mentions, links or formats anything. Pure.
import type { JsonObject, WaitingApproval } from '@baton/core/internal'

export interface SlackMessage {
  /** For notifications. */
  readonly text: string
  readonly blocks: readonly JsonObject[]
}

export const ACTIONS = { approve: 'baton.approve', deny: 'baton.deny', edit: 'baton.edit' } as const
export type SlackAction = keyof typeof ACTIONS

/** Characters of arguments and differences in a message. A request with more is not decided here. */
const SHOWN_CHARS = 9000
/** Characters in a field of a modal, which Slack limits. */
const EDITABLE_CHARS = 3000
/** Characters of a button's value, which Slack limits. */
const VALUE_CHARS = 2000
const HEADER_CHARS = 150
const PLAIN_CHARS = 1000

export interface RequestParts {
  /** The sealed value of the buttons. */
  readonly value: string
  /** Writes a principal: `<@U1>`, or its id. */
  readonly mention: (principal: string) => JsonObject
}

/** The message without its buttons is what it becomes once it is decided. */
export function writeRequest(
  asked: WaitingApproval,
  { value, mention }: RequestParts,
): SlackMessage & { readonly shown: readonly JsonObject[] } {
  const { name, title = name, agent, principal, input, diff = [], cut, deciders, given = [], expiresAtMs } = asked
  const writtenInput = JSON.stringify(input, null, 2)
  const differences = diff.map(({ path, oldText, newText }) => writeDifference(path, oldText, newText))
  const chars = [writtenInput, ...differences].reduce((sum, { length }) => sum + length, 0)
  const isShown = cut === undefined && chars <= SHOWN_CHARS
  const shown = [
    { type: 'header', text: plain(`Approve ${title}?`, HEADER_CHARS) },
    ...(isShown ? [...differences, writtenInput].map(preformatted) : []),
    ...(isShown ? [] : [note('The arguments are too long for Slack. Decide it where they can be seen.')]),
    ...warn(asked),
    {
      type: 'context',
      elements: [plain(`${name} · asked by the agent ${agent} for`, PLAIN_CHARS), mention(principal.id)],
    },
    { type: 'context', elements: [{ type: 'mrkdwn', text: `Expires ${writeTime(expiresAtMs)}` }] },
    ...(deciders?.needed === undefined
      ? []
      : [note(`It needs ${deciders.needed} people; ${given.length} have approved it.`)]),
  ]
  const isDecidable = isShown && value.length <= VALUE_CHARS
  const isEditable = writtenInput.length <= EDITABLE_CHARS && deciders?.needed === undefined
  const buttons = [
    button('approve', 'Approve', value, 'primary'),
    button('deny', 'Deny', value, 'danger'),
    ...(isEditable ? [button('edit', 'Edit', value)] : []),
  ]
  return {
    text: `${escape(name)} waits for an approval`,
    shown,
    blocks: isDecidable ? [...shown, { type: 'actions', block_id: 'baton.decide', elements: buttons }] : shown,
  }
}

/** The modal in which a person edits the arguments. Slack returns `value` with it. */
export function writeEditView(asked: Pick<WaitingApproval, 'name' | 'input'>, value: string): JsonObject {
  return {
    type: 'modal',
    callback_id: ACTIONS.edit,
    private_metadata: value,
    title: plain('Edit and approve', 24),
    submit: plain('Approve', 24),
    close: plain('Cancel', 24),
    blocks: [
      {
        type: 'input',
        block_id: EDIT_BLOCKS.arguments,
        label: plain(`Arguments of ${asked.name}`, PLAIN_CHARS),
        element: {
          type: 'plain_text_input',
          action_id: EDIT_BLOCKS.arguments,
          multiline: true,
          initial_value: JSON.stringify(asked.input, null, 2),
        },
      },
      {
        type: 'input',
        block_id: EDIT_BLOCKS.note,
        optional: true,
        label: plain('Note for people', PLAIN_CHARS),
        element: { type: 'plain_text_input', action_id: EDIT_BLOCKS.note, max_length: 500 },
      },
    ],
  }
}

export const EDIT_BLOCKS = { arguments: 'baton.arguments', note: 'baton.note' } as const

/** The end of a message that is no longer open. */
export function closeRequest(shown: readonly JsonObject[], words: string, who?: JsonObject): readonly JsonObject[] {
  const elements = [plain(words, PLAIN_CHARS), ...(who ? [who] : [])]
  return [
    ...shown.filter((block) => block['type'] !== 'actions'),
    { type: 'context', block_id: 'baton.closed', elements },
  ]
}

export function plain(text: string, most: number): JsonObject {
  const cut = text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text
  return { type: 'plain_text', text: cut === '' ? '–' : cut, emoji: false }
}

/** For text with Slack's own markup around it. */
export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function note(text: string): JsonObject {
  return { type: 'context', elements: [plain(text, PLAIN_CHARS)] }
}

function preformatted(text: string): JsonObject {
  return { type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }] }
}

function button(action: SlackAction, text: string, value: string, style?: 'primary' | 'danger'): JsonObject {
  return { type: 'button', action_id: ACTIONS[action], text: plain(text, 75), value, ...(style && { style }) }
}

/** A time as Slack shows it in the reader's zone. */
export function writeTime(atMs: number): string {
  const date = new Date(Math.max(0, atMs))
  const words = `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return `<!date^${Math.floor(date.getTime() / 1000)}^{date_short_pretty} {time}|${words}>`
}

/** Why a policy asks, and what strangers may have written. */
function warn({ asked }: WaitingApproval): readonly JsonObject[] {
  if (!asked) return []
  const { message, untrusted = [], copied = [] } = asked
  const read = untrusted.length === 0 ? [] : [`The model has read untrusted results of ${untrusted.join(', ')}.`]
  const from = copied.map(({ path, tool }) => `${path} contains text from ${tool}.`)
  return [message, ...read, ...from].slice(0, 10).map((text) => note(`⚠ ${text}`))
}

function writeDifference(path: string, oldText: string | null, newText: string): string {
  const lines = (sign: string, text: string): string =>
    text
      .split('\n')
      .map((line) => `${sign} ${line}`)
      .join('\n')
  return [path, ...(oldText === null ? [] : [lines('-', oldText)]), lines('+', newText)].join('\n')
}
