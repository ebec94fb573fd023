// Generates docs/tools.md: every tool of the kits, from its definition.
import type { JsonObject, JsonValue, Tool } from '@baton/core/internal'
import { isJsonObject, toJsonSchema } from '@baton/core/internal'
import type { ToolKit } from './tool-kits.ts'
import { TOOL_KITS } from './tool-kits.ts'

/** Maximum characters of a default or of choices in a table. */
const SHOWN_CHARS = 120

/** An argument that at least this many tools of a kit share is described once, for the kit. */
const SHARED_FROM = 5

export function toolsPage(): string {
  const kits = TOOL_KITS.map((kit) => ({ kit, tools: kit.open() }))
  const count = kits.reduce((sum, { tools }) => sum + tools.length, 0)
  return `# Ready-made tools

<!-- Generated from the definitions of the kits in packages/tools by \`npm run docs\`. Do not edit. -->

\`defineAgent({ name, model, tools: workspaceTools({ root: '.' }) })\` gives an agent a kit. \`@baton/tools\` and \`@baton/kits\` have ${count} tools in ${kits.length} kits:

\`\`\`sh
npm install @baton/host @baton/tools @baton/kits
\`\`\`

[\`permissions\`](security.md#what-an-agent-may-do-at-all) remove single tools. Others: [your own](writing-tools.md), [MCP servers](mcp.md), [OpenAPI documents](openapi-tools.md), [the AI SDK](ai-sdk-tools.md), [Effect](effect.md), [another agent](other-agents.md).

${row(['Kit', 'Tools'])}
${row(['---', '---'])}
${kits.map(({ kit, tools }) => row([`[${kit.title}](#${anchor(kit.title)})`, tools.map(({ name }) => `\`${name}\``).join(', ')])).join('\n')}

\`?\` marks optional arguments. Each tool, or its kit for all, says:

- its [effect](writing-tools.md#how-often-a-tool-may-run) and its time-out
- whether a person approves calls by default; the kit's page explains how to change this
- whether its results are [untrusted](approvals.md#once-the-model-has-read-a-strangers-text), and whether it uses the network
- the [errors](errors.md) that the model may read, besides \`invalid_arguments\`, \`tool_result_timeout\`, \`result_invalid\`, \`result_too_large\` and \`call_denied\`, which every tool has

${kits.map(({ kit, tools }) => describeKit(kit, tools)).join('\n\n')}
`
}

/** Errors of every tool, which the page names once. */
const COMMON_ERRORS: ReadonlySet<string> = new Set([
  'invalid_arguments',
  'tool_result_timeout',
  'result_invalid',
  'result_too_large',
  'call_denied',
])

function describeKit(kit: ToolKit, tools: readonly Tool[]): string {
  const shared: Shared = {
    facts: tools.length > 1 ? common(tools.map(listFacts)) : [],
    errors: tools.length > 1 ? common(tools.map(ownErrors)) : [],
    rows: repeated(tools.flatMap((tool) => listArguments(tool.inputSchema).map(({ text }) => text))),
  }
  const all = describeFacts(shared.facts, shared.errors)
  return `## ${kit.title}

${kit.about} \`${kit.call}\` from \`${kit.subpath}\` returns ${tools.length > 1 ? 'all of them' : 'it'} ([${kit.page}](${kit.page})).${all === '' ? '' : ` Each: ${all}.`}

${shared.rows.length === 0 ? '' : `Several take:\n\n${shared.rows.join('\n')}\n\n`}${tools.map((tool) => describeTool(tool, shared)).join('\n\n')}`
}

/** Words that the section of a kit says once for several of its tools. */
interface Shared {
  readonly facts: readonly string[]
  readonly errors: readonly string[]
  readonly rows: readonly string[]
}

function common(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = lists
  return first.filter((one) => others.every((list) => list.includes(one)))
}

function repeated(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].filter((one) => texts.filter((other) => other === one).length >= SHARED_FROM)
}

function listFacts(tool: Tool): readonly string[] {
  const { effect, timeoutMs, approval, trust = 'trusted', network, retry, execute } = tool
  const asks = approval === true ? 'approval' : approval === false ? 'no approval' : 'approval for some calls'
  return [
    `\`${effect}\`${execute ? '' : ', run by a client'}`,
    describeTime(timeoutMs),
    asks,
    `${trust} results`,
    network === false ? 'no network' : execute ? 'network' : 'network of the client',
    ...(retry ? [`tried up to ${retry.attempts} times`] : []),
  ]
}

function ownErrors({ errors = [] }: Tool): readonly string[] {
  return errors.filter((code) => !COMMON_ERRORS.has(code))
}

function describeFacts(facts: readonly string[], errors: readonly string[]): string {
  const codes = errors.map((code) => `\`${code}\``).join(', ')
  return [facts.join(', '), codes === '' ? '' : `errors ${codes}`].filter((part) => part !== '').join('; ')
}

function describeTool(tool: Tool, shared: Shared): string {
  const { name, title, description } = tool
  const facts = describeFacts(
    listFacts(tool).filter((fact) => !shared.facts.includes(fact)),
    ownErrors(tool).filter((code) => !shared.errors.includes(code)),
  )
  const output = tool.output === undefined ? undefined : describeFields(toJsonSchema(tool.output))
  const parts = [
    `### ${name}`,
    `${title === undefined ? '' : `**${title}.** `}${description.replaceAll('\n', ' ')}`,
    ...(facts === '' ? [] : [`${facts}.`]),
    describeArguments(tool.inputSchema, shared.rows),
    ...(output === undefined ? [] : [`Result: ${output}`]),
  ]
  return parts.join('\n\n')
}

function describeArguments(schema: JsonObject, sharedRows: readonly string[]): string {
  const all = listArguments(schema)
  if (all.length === 0) return 'It takes no arguments.'
  const named = all.filter(({ text }) => sharedRows.includes(text)).map(({ name }) => `\`${name}\``)
  const rows = all.map(({ text }) => text).filter((text) => !sharedRows.includes(text))
  const above = named.length === 0 ? [] : [`Takes ${named.join(', ')}${rows.length === 0 ? '.' : ' and:'}`]
  return [...above, ...(rows.length === 0 ? [] : [rows.join('\n')])].join('\n\n')
}

function listArguments(schema: JsonObject): readonly { readonly name: string; readonly text: string }[] {
  return listFields(schema).map(({ name, schema: field, isRequired }) => ({
    name,
    text: describeArgument(name, field, isRequired),
  }))
}

function describeArgument(name: string, field: JsonObject, isRequired: boolean): string {
  const { default: value, description } = field
  const otherwise = value === undefined ? '' : `, \`${short(value)}\` by default`
  const meaning = typeof description === 'string' ? `: ${description.replaceAll('\n', ' ')}` : ''
  return `- \`${name}\`${isRequired ? '' : '?'} (${typeOf(field)}${otherwise})${meaning}`
}

function describeFields(schema: JsonObject): string {
  const variants = ['anyOf', 'oneOf'].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []))
  const kinds = (variants.length > 0 ? variants : [schema]).filter((one) => isJsonObject(one))
  return kinds
    .map((one) => {
      const fields = listFields(one).map(({ name, isRequired }) => `${name}${isRequired ? '' : '?'}`)
      return fields.length === 0 ? typeOf(one) : `\`{ ${fields.join(', ')} }\``
    })
    .join(', or ')
}

interface Field {
  readonly name: string
  readonly schema: JsonObject
  readonly isRequired: boolean
}

function listFields({ properties, required }: JsonObject): readonly Field[] {
  const names = Array.isArray(required) ? required : []
  return Object.entries(isJsonObject(properties) ? properties : {}).map(([name, schema]) => {
    const field = isJsonObject(schema) ? schema : {}
    // A field with a default is optional, whatever the output side of its schema says.
    return { name, schema: field, isRequired: names.includes(name) && !('default' in field) }
  })
}

function typeOf(schema: JsonObject): string {
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => `\`${short(value)}\``).join(', ')
  if ('const' in schema) return `\`${short(schema['const'])}\``
  const variants = ['anyOf', 'oneOf'].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []))
  if (variants.length > 0) return variants.map((one) => (isJsonObject(one) ? typeOf(one) : 'any')).join(' or ')
  const { type, items, minimum, maximum, maxLength, maxItems } = schema
  const name = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any'
  if (name === 'array') return `list${upTo(maxItems)} of ${isJsonObject(items) ? typeOf(items) : 'any'}`
  if (name === 'integer' || name === 'number') {
    const isPlain = typeof maximum !== 'number' || maximum >= Number.MAX_SAFE_INTEGER
    const least = typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined
    return isPlain ? name + (least === undefined ? '' : ` ≥ ${least}`) : `${name} ${least ?? ''}–${maximum}`
  }
  if (name === 'string') return `text${upTo(maxLength)}`
  return name
}

function upTo(most: JsonValue | undefined): string {
  return typeof most === 'number' ? ` ≤ ${most}` : ''
}

function short(value: JsonValue | undefined): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text
}

function describeTime(ms: number): string {
  if (ms % 60_000 === 0) return `${ms / 60_000} min`
  return `${ms / 1000} s`
}

function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}
