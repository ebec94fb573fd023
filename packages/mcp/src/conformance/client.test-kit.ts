// A client as users build it, started as a program by the conformance suite: it opens a session, and a scripted model
// calls every tool of the server. The address is the last argument; the suite passes the rest in variables.
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import type { JsonObject, JsonValue } from '@baton/core'
import {
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  PrivateKeyJwtProvider,
  discoverAndRequestJwtAuthGrant,
} from '@modelcontextprotocol/client'
import type { McpAuth } from '../client/auth.ts'
import { createMcpServers, createMemoryTokenStore } from '../client/index.ts'

interface Context {
  readonly client_id?: string
  readonly client_secret?: string
  readonly private_key_pem?: string
  readonly signing_algorithm?: string
  readonly idp_client_id?: string
  readonly idp_id_token?: string
  readonly idp_issuer?: string
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[]
}

const url = process.argv.at(-1) ?? ''
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context // written by the suite

/** The suite stores it with its verdicts. */
function tell(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Acts as the user at the login page: follows the page's redirect. */
const follow = async (page: URL): Promise<URLSearchParams> => {
  const response = await fetch(page, { redirect: 'manual' })
  return new URL(response.headers.get('location') ?? 'about:blank').searchParams
}

function chooseAuth(): McpAuth {
  const { client_id: clientId = '', client_secret: clientSecret, private_key_pem: privateKey } = context
  if (scenario.startsWith('auth/client-credentials-jwt') && privateKey !== undefined)
    return {
      provider: new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: context.signing_algorithm ?? 'ES256' }),
    }
  if (scenario.startsWith('auth/client-credentials') && clientSecret !== undefined)
    return { provider: new ClientCredentialsProvider({ clientId, clientSecret }) }
  if (scenario.startsWith('auth/enterprise')) return { provider: createEnterpriseLogin(clientId, clientSecret ?? '') }
  return {
    store: createMemoryTokenStore(),
    redirectUrl: 'http://localhost:3000/callback',
    authorize: follow,
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...(clientId !== '' && { client: { id: clientId, ...(clientSecret !== undefined && { secret: clientSecret }) } }),
  }
}

function createEnterpriseLogin(clientId: string, clientSecret: string): CrossAppAccessProvider {
  const { idp_issuer: idpUrl = '', idp_id_token: idToken = '', idp_client_id: idpClientId = '' } = context
  return new CrossAppAccessProvider({
    clientId,
    clientSecret,
    assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
      const grant = await discoverAndRequestJwtAuthGrant({
        idpUrl,
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken,
        clientId: idpClientId,
        ...(scope !== undefined && { scope }),
        fetchFn,
      })
      return grant.jwtAuthGrant
    },
  })
}

/** Fills in arguments for a tool's schema, enough for the suite's tools. */
function fill(schema: JsonObject, echoed?: JsonObject): JsonObject {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>
  const values: Readonly<Record<string, JsonValue>> = {
    string: 'test',
    number: 5,
    integer: 5,
    boolean: true,
    array: [],
    object: {},
  }
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { type, enum: choices }]) => {
      // One scenario expects the schema back as the client understood it.
      if (name === 'schema' && echoed) return [[name, echoed] as const]
      const value = Array.isArray(choices) ? choices[0] : values[typeof type === 'string' ? type : '']
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}

const servers = createMcpServers(
  { server: { url, auth: chooseAuth() } },
  { log: { info: () => {}, warn: (message, data) => tell(`${message} ${JSON.stringify(data)}`) } },
)
const [source] = servers.sources
const tools = (await source?.list()) ?? []
const listed = tools.filter(({ name }) => !name.startsWith('server.'))
const calls =
  context.toolCalls ??
  listed.map(({ name, inputSchema }) => ({ name, arguments: fill(inputSchema, listed[0]?.input as JsonObject) }))
const steps = [...calls.map((call) => ({ calls: [call] })), { text: 'I called them all.' }]
const agent = defineAgent({ name: 'conformance', model: createScriptedModel({ steps }), sources: servers.sources })
const host = createHost({ agent })
const session = await host.session('one')
for await (const event of session.send('Call every tool.')) {
  // If a schema has defaults, the suite expects them: the values of a user who changes nothing.
  if (event.type === 'question-asked')
    void session.answer({ questionId: event.questionId, value: readDefaults(event.schema) })
  if (event.type === 'call' && event.call.result)
    tell(`${event.call.name} ${JSON.stringify(event.call.result).slice(0, 400)}`)
}
await host.stop()
await servers.close()

function readDefaults(schema: JsonObject): JsonObject {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>
  const given = fill(schema)
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, property['default'] ?? given[name] ?? null]),
  )
}
