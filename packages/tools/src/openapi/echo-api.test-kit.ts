// A service that echoes its understanding of a request, using independent parsers: `qs` for brackets, the platform's
// for forms and multipart bodies.
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import type { JsonObject, JsonValue, Tool, ToolContext } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { createArgumentValidator } from '@baton/runtime'
import { parse } from 'qs'
import { fromOpenApi } from './from-openapi.ts'
import type { OpenApiOptions } from './from-openapi.ts'

export interface Echo {
  readonly method: string
  /** The raw path and query. */
  readonly target: string
  readonly cookie: string | null
  readonly contentType: string | null
  /** The query as parsed by `qs`. */
  readonly query: JsonValue
  /** The raw body, if it is text. */
  readonly text: string
  /** Form fields: names and values in order, and the form as parsed by `qs`. */
  readonly pairs: readonly (readonly [string, string])[] | null
  readonly form: JsonValue
  readonly parts: readonly EchoPart[] | null
}

export interface EchoPart {
  readonly name: string
  readonly text?: string
  readonly file?: string
  readonly mediaType?: string
  readonly sha256?: string
}

export interface EchoApi {
  readonly origin: string
  close(): Promise<void>
}

export async function startEchoApi(): Promise<EchoApi> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const head = { method, target: url, cookie: headers.cookie ?? null, contentType: headers['content-type'] ?? null }
      void understand(head, Buffer.concat(pieces)).then((echo) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(echo))
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

type Head = Pick<Echo, 'method' | 'target' | 'cookie' | 'contentType'>

async function understand(head: Head, body: Buffer): Promise<Echo> {
  const text = body.toString('utf8')
  const isForm = head.contentType === 'application/x-www-form-urlencoded'
  const isMultipart = head.contentType?.startsWith('multipart/form-data') === true
  const query = head.target.split('?')[1] ?? ''
  return {
    ...head,
    query: parse(query) as JsonValue,
    text,
    pairs: isForm ? [...new URLSearchParams(text)] : null,
    form: isForm ? (parse(text) as JsonValue) : null,
    parts: isMultipart ? await readParts(head.contentType ?? '', body) : null,
  }
}

async function readParts(contentType: string, body: Buffer): Promise<readonly EchoPart[]> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData()
  return Promise.all(
    [...form].map(async ([name, value]): Promise<EchoPart> => {
      if (typeof value === 'string') return { name, text: value }
      const bytes = new Uint8Array(await value.arrayBuffer())
      return { name, file: value.name, mediaType: value.type, sha256: digestOf(bytes) }
    }),
  )
}

export function digestOf(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** Validates the arguments like a host, and runs the only operation of a document. */
export async function askEcho(
  origin: string,
  operation: JsonObject,
  input: JsonObject,
  options: Partial<OpenApiOptions> & { readonly document?: JsonObject; readonly context?: Partial<ToolContext> } = {},
): Promise<Echo> {
  const { document = {}, context = {}, ...rest } = options
  const [path = '', item] = Object.entries((document['paths'] ?? { '/x': { post: operation } }) as JsonObject)[0] ?? []
  const [method = ''] = Object.keys(item as JsonObject)
  const [made] = fromOpenApi(
    { openapi: '3.0.3', paths: { '/x': { post: operation } }, ...document },
    { operations: [`${method.toUpperCase()} ${path}`], server: origin, ...rest },
  )
  return (await run(made, input, context)) as Echo
}

export async function run(
  tool: Tool | undefined,
  input: JsonObject,
  context: Partial<ToolContext> = {},
): Promise<unknown> {
  if (!tool?.execute) throw new Error('there is no such tool')
  const checked = await createArgumentValidator().validate(tool, JSON.stringify(input))
  if (!checked.ok) throw new Error(checked.issues)
  return tool.execute(checked.value, createToolContext({ signal: new AbortController().signal, ...context }))
}
