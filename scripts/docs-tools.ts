// Generates docs/tools.md: every tool of the kits, from its definition.
import type { JsonObject, JsonValue, Tool } from '@baton/core/internal'
import { isJsonObject, toJsonSchema } from '@baton/core/internal'
import type { ToolKit } from './tool-kits.ts'
import { TOOL_KITS } from './tool-kits.ts'

/** Maximum characters of a default or of choices in a table. */
const SHOWN_CHARS = 120

export function toolsPage(): string {
  const kits = TOOL_KITS.map((kit) => ({ kit, tools: kit.open() }))
  const count = kits.reduce((sum, { tools }) => sum + tools.length, 0)
  return `# Ready-made tools

<!-- Generated from the definitions of the kits in packages/tools by \`npm run docs\`. Do not edit. -->

\`@baton/tools\` and \`@baton/kits\` have ${count} tools in ${kits.length} kits. Give an agent a kit, or some of its tools; [\`permissions\`](security.md#what-an-agent-may-do-at-all) remove single tools.
How to write your own: [writing-tools.md](writing-tools.md). Tools of others: [MCP servers](mcp.md), [OpenAPI documents](openapi-tools.md), [the AI SDK](ai-sdk-tools.md), [Effect](effect.md),
[another agent](other-agents.md).

\`\`\`sh
npm install @baton/host @baton/tools @baton/kits
\`\`\`

${row(['Kit', 'Tools'])}
${row(['---', '---'])}
${kits.map(({ kit, tools }) => row([`[${kit.title}](#${anchor(kit.title)})`, tools.map(({ name }) => `\`${name}\``).join(', ')])).join('\n')}

What the lines of a tool say:

- **Effect**: how often it may run for one call ([writing-tools.md](writing-tools.md#how-often-a-tool-may-run)).
- **Approval**: whether a person is asked by default; each kit's page explains how to change this.
- **Results**: results that strangers may have written are \`untrusted\` ([approvals.md](approvals.md#once-the-model-has-read-a-strangers-text)).
- **Errors**: the codes that the model may read, besides those that every tool has: \`invalid_arguments\`, \`tool_result_timeout\`, \`result_invalid\`, \`result_too_large\`, \`call_denied\`. [errors.md](errors.md) explains them.

${kits.map(({ kit, tools }) => describeKit(kit, tools)).join('\n\n')}
`
}

function describeKit(kit: ToolKit, tools: readonly Tool[]): string {
  return `## ${kit.title}

${kit.about} \`${kit.call}\` from \`${kit.subpath}\` returns all of them; [${kit.page}](${kit.page}) has a program.

${tools.map(describeTool).join('\n\n')}`
}

function describeTool(tool: Tool): string {
  const { name, title, description, effect, timeoutMs, approval, trust = 'trusted', network, errors = [] } = tool
  const asks = approval === false ? 'none' : approval === true ? 'always' : 'depends on the call'
  const facts = [
    ['Effect', `\`${effect}\`${tool.execute ? '' : ', run by a client'}`],
    ['Time-out', describeTime(timeoutMs)],
    ['Approval', asks],
    ['Results', `${trust}${tool.retry ? `; tried up to ${tool.retry.attempts} times` : ''}`],
    ['Network', network === false ? 'none' : tool.execute ? 'may be used' : 'of the client'],
    ['Errors', errors.map((code) => `\`${code}\``).join(', ') || 'none of its own'],
  ]
  const output = tool.output === undefined ? undefined : describeFields(toJsonSchema(tool.output))
  return `### ${name}

${title === undefined ? '' : `**${title}.** `}${description.replaceAll('\n', ' ')}

${row(['', ''])}
${row(['---', '---'])}
${facts.map((cells) => row(cells)).join('\n')}

${inputTable(tool.inputSchema)}${output === undefined ? '' : `\n\nResult: ${output}`}`
}

function inputTable(schema: JsonObject): string {
  const fields = listFields(schema)
  if (fields.length === 0) return 'It takes no arguments.'
  const rows = fields.map(({ name, schema: field, isRequired }) =>
    row([
      `\`${name}\``,
      typeOf(field),
      isRequired ? 'required' : 'default' in field ? `\`${short(field['default'])}\`` : 'optional',
      typeof field['description'] === 'string' ? field['description'] : '',
    ]),
  )
  return `${row(['Argument', 'Type', 'Default', 'Meaning'])}\n${row(['---', '---', '---', '---'])}\n${rows.join('\n')}`
}

function describeFields(schema: JsonObject): string {
  const variants = ['anyOf', 'oneOf'].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []))
  const kinds = (variants.length > 0 ? variants : [schema]).filter((one) => isJsonObject(one))
  return kinds
    .map((one) => {
      const fields = listFields(one).map(({ name, isRequired }) => `\`${name}${isRequired ? '' : '?'}\``)
      return fields.length === 0 ? typeOf(one) : `{ ${fields.join(', ')} }`
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
  if (name === 'array') return `list of ${isJsonObject(items) ? typeOf(items) : 'any'}${upTo(maxItems)}`
  if (name === 'integer' || name === 'number') {
    const isPlain = typeof maximum !== 'number' || maximum >= Number.MAX_SAFE_INTEGER
    const least = typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined
    return isPlain ? name + (least === undefined ? '' : ` from ${least}`) : `${name} ${least ?? ''} to ${maximum}`
  }
  if (name === 'string') return `text${upTo(maxLength)}`
  return name
}

function upTo(most: JsonValue | undefined): string {
  return typeof most === 'number' ? `, at most ${most}` : ''
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
