// Limits of Slack for blocks and views, from its reference (docs.slack.dev/reference/block-kit, seen in 2026-11). Each function
// returns why, in the words of `response_metadata.messages`; undefined if the value is fine.
import { isJsonObject } from '@baton/core/internal'

type Fields = Readonly<Record<string, unknown>>

const BLOCKS_MAX = { message: 50, modal: 100 } as const
const TEXT_MAX = 3000
const RICH_TEXT: ReadonlySet<unknown> = new Set(['rich_text_section', 'rich_text_preformatted', 'rich_text_quote'])

export function findBlocksIssue(blocks: unknown, where: keyof typeof BLOCKS_MAX): string | undefined {
  if (!Array.isArray(blocks)) return 'must be an array'
  if (blocks.length > BLOCKS_MAX[where]) return `no more than ${BLOCKS_MAX[where]} items allowed`
  const names = { block_id: new Set<string>(), action_id: new Set<string>() }
  for (const [index, block] of (blocks as readonly unknown[]).entries()) {
    const issue = isJsonObject(block) ? findBlockIssue(block, where, names) : 'must be an object'
    if (issue !== undefined) return `${issue} [json-pointer:/blocks/${index}]`
  }
  return undefined
}

type Names = Readonly<Record<'block_id' | 'action_id', Set<string>>>

function findBlockIssue(block: Fields, where: keyof typeof BLOCKS_MAX, names: Names): string | undefined {
  const named = findNameIssue(block, 'block_id', names)
  if (named !== undefined) return named
  switch (block['type']) {
    case 'header':
      return findExtra(block, ['text']) ?? findTextIssue(block['text'], 150, ['plain_text'])
    case 'section': {
      const { text, fields } = block
      if (text === undefined && fields === undefined) return 'missing required field: text or fields'
      if (fields !== undefined && (!Array.isArray(fields) || fields.length === 0 || fields.length > 10))
        return 'fields must have 1 to 10 items'
      const inFields = ((fields ?? []) as readonly unknown[]).map((one) => findTextIssue(one, 2000))
      return (
        findExtra(block, ['text', 'fields', 'accessory', 'expand']) ??
        (text === undefined ? undefined : findTextIssue(text, TEXT_MAX)) ??
        inFields.find((issue) => issue !== undefined)
      )
    }
    case 'context': {
      const { elements } = block
      if (!Array.isArray(elements) || elements.length === 0 || elements.length > 10)
        return 'elements must have 1 to 10 items'
      return findExtra(block, ['elements']) ?? findFirst(elements, (one) => findTextIssue(one, TEXT_MAX))
    }
    case 'divider':
      return findExtra(block, [])
    case 'rich_text':
      return findExtra(block, ['elements']) ?? findRichTextIssue(block['elements'])
    case 'actions': {
      const { elements } = block
      if (!Array.isArray(elements) || elements.length === 0 || elements.length > 25)
        return 'elements must have 1 to 25 items'
      return findExtra(block, ['elements']) ?? findFirst(elements, (one) => findButtonIssue(one, names))
    }
    case 'input':
      return where === 'message' ? 'unsupported type: input' : findInputIssue(block, names)
    default:
      return `unsupported type: ${JSON.stringify(block['type'])}`
  }
}

function findFirst(values: readonly unknown[], find: (value: unknown) => string | undefined): string | undefined {
  for (const value of values) {
    const issue = find(value)
    if (issue !== undefined) return issue
  }
  return undefined
}

function findExtra(fields: Fields, known: readonly string[]): string | undefined {
  const extra = Object.keys(fields).find((name) => !['type', 'block_id', ...known].includes(name))
  return extra === undefined ? undefined : `invalid additional property: ${extra}`
}

function findNameIssue(fields: Fields, name: keyof Names, names: Names): string | undefined {
  const value = fields[name]
  if (value === undefined) return undefined
  if (typeof value !== 'string' || value === '') return `${name} must be text`
  if (value.length > 255) return `must be less than 256 characters: ${name}`
  if (names[name].has(value)) return `${name} already exists: ${value}`
  names[name].add(value)
  return undefined
}

export function findTextIssue(
  text: unknown,
  most: number,
  types: readonly string[] = ['plain_text', 'mrkdwn'],
): string | undefined {
  if (!isJsonObject(text) || !types.some((type) => type === text['type']))
    return `must be a text object of ${types.join(' or ')}`
  const { text: words, emoji, verbatim } = text as Fields
  if (typeof words !== 'string' || words.length === 0) return 'must be more than 0 characters'
  if (words.length > most) return `must be less than ${most + 1} characters`
  if (emoji !== undefined && text['type'] !== 'plain_text') return 'invalid additional property: emoji'
  if (verbatim !== undefined && text['type'] !== 'mrkdwn') return 'invalid additional property: verbatim'
  return undefined
}

function findButtonIssue(button: unknown, names: Names): string | undefined {
  if (!isJsonObject(button) || button['type'] !== 'button') return 'unsupported type of element'
  const { value, style, confirm } = button as Fields
  if (value !== undefined && (typeof value !== 'string' || value.length > 2000))
    return 'must be less than 2001 characters: value'
  if (style !== undefined && style !== 'primary' && style !== 'danger') return 'style must be primary or danger'
  if (typeof button['action_id'] !== 'string') return 'missing required field: action_id'
  return (
    findExtra(button, ['text', 'action_id', 'value', 'style', 'confirm', 'url', 'accessibility_label']) ??
    findNameIssue(button, 'action_id', names) ??
    findTextIssue(button['text'], 75, ['plain_text']) ??
    (confirm === undefined ? undefined : findConfirmIssue(confirm))
  )
}

function findConfirmIssue(confirm: unknown): string | undefined {
  if (!isJsonObject(confirm)) return 'confirm must be an object'
  return (
    findExtra(confirm, ['title', 'text', 'confirm', 'deny', 'style']) ??
    findTextIssue(confirm['title'], 100, ['plain_text']) ??
    findTextIssue(confirm['text'], 300) ??
    findTextIssue(confirm['confirm'], 30, ['plain_text']) ??
    findTextIssue(confirm['deny'], 30, ['plain_text'])
  )
}

function findRichTextIssue(elements: unknown): string | undefined {
  if (!Array.isArray(elements) || elements.length === 0) return 'elements must have items'
  return findFirst(elements, (element) => {
    if (!isJsonObject(element)) return 'must be an object'
    if (!RICH_TEXT.has(element['type'])) return `unsupported type: ${JSON.stringify(element['type'])}`
    const inner = element['elements']
    if (!Array.isArray(inner)) return 'missing required field: elements'
    return findFirst(inner, (one) =>
      isJsonObject(one) && one['type'] === 'text' && typeof one['text'] === 'string' && one['text'] !== ''
        ? undefined
        : isJsonObject(one) && one['type'] === 'user' && typeof one['user_id'] === 'string'
          ? undefined
          : 'must be an element of rich text',
    )
  })
}

function findInputIssue(block: Fields, names: Names): string | undefined {
  const { element, label, hint } = block
  if (!isJsonObject(element) || element['type'] !== 'plain_text_input') return 'unsupported type of element'
  const { initial_value: value, max_length: most = TEXT_MAX } = element as Fields
  if (typeof most !== 'number' || most < 1 || most > TEXT_MAX) return 'max_length must be 1 to 3000'
  if (value !== undefined && (typeof value !== 'string' || value.length > most)) return 'initial_value is too long'
  return (
    findExtra(block, ['element', 'label', 'hint', 'optional', 'dispatch_action']) ??
    findNameIssue(element as Fields, 'action_id', names) ??
    findTextIssue(label, 2000, ['plain_text']) ??
    (hint === undefined ? undefined : findTextIssue(hint, 2000, ['plain_text']))
  )
}

export function findViewIssue(view: unknown): string | undefined {
  if (!isJsonObject(view)) return 'view must be an object'
  if (view['type'] !== 'modal') return `unsupported type: ${JSON.stringify(view['type'])}`
  const { callback_id: id, private_metadata: kept, blocks, submit, close, title } = view as Fields
  if (id !== undefined && (typeof id !== 'string' || id.length > 255))
    return 'callback_id must be less than 256 characters'
  if (kept !== undefined && (typeof kept !== 'string' || kept.length > 3000))
    return 'private_metadata must be less than 3001 characters'
  const hasInput = Array.isArray(blocks) && blocks.some((one) => isJsonObject(one) && one['type'] === 'input')
  if (hasInput && submit === undefined) return 'missing required field: submit'
  return (
    findExtra(view as Fields, [
      'title',
      'submit',
      'close',
      'blocks',
      'callback_id',
      'private_metadata',
      'clear_on_close',
      'notify_on_close',
      'external_id',
    ]) ??
    findTextIssue(title, 24, ['plain_text']) ??
    (submit === undefined ? undefined : findTextIssue(submit, 24, ['plain_text'])) ??
    (close === undefined ? undefined : findTextIssue(close, 24, ['plain_text'])) ??
    findBlocksIssue(blocks, 'modal')
  )
}
