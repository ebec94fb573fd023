// Readers of each entry point. Users' doors have everything that the guide and the library pages need; programs add
// adapters and kits one by one. Entries in neither list are for builders of hosts, fronts, stores and test kits: their
// source says `@internal`, and their names may change in any version.

/** The names of all these together are at most `USER_NAMES_MAX`. */
export const USER_DOORS: readonly string[] = [
  '@baton/core', // its names are those of @baton/host
  '@baton/host',
  '@baton/host/postgres',
  '@baton/host/testing',
  '@baton/client',
  '@baton/client/react',
  '@baton/server/acp',
  '@baton/server/auth',
  '@baton/server/http',
  '@baton/server/websocket',
]

export const USER_NAMES_MAX = 154

/** Each of these has at most `ADDED_NAMES_MAX` names. */
export const ADDED_DOORS: readonly string[] = [
  '@baton/host/opentelemetry',
  '@baton/host/metrics',
  '@baton/host/reader',
  '@baton/client/voice',
  '@baton/cli',
  '@baton/console',
  '@baton/kits/acp-agent',
  '@baton/kits/coding-sessions',
  '@baton/kits/content',
  '@baton/kits/cursor-agents',
  '@baton/kits/explorer',
  '@baton/kits/github',
  '@baton/kits/moderation',
  '@baton/kits/reminders',
  '@baton/kits/vision',
  '@baton/kits/web',
  '@baton/mcp/client',
  '@baton/mcp/server',
  '@baton/models',
  '@baton/models/ai-sdk',
  '@baton/models/anthropic',
  '@baton/models/bedrock',
  '@baton/models/choose-model',
  '@baton/models/client',
  '@baton/models/gemini',
  '@baton/models/gguf',
  '@baton/models/openai-chat',
  '@baton/models/openai-responses',
  '@baton/models/prices',
  '@baton/models/prompted',
  '@baton/models/transport/undici',
  '@baton/notices/slack',
  '@baton/notices/webhook',
  '@baton/temporal',
  '@baton/temporal/workflows',
  '@baton/testing',
  '@baton/tools/ai-sdk',
  '@baton/tools/effect',
  '@baton/tools/guard',
  '@baton/tools/openapi',
  '@baton/tools/workspace',
]

export const ADDED_NAMES_MAX = 20
