// Field names of the AI SDK and other libraries for agents, tools and messages, mapped to Baton's. A value is the name
// of a field, or a sentence that says where it belongs. It knows no schema and checks nothing.

type Elsewhere = Readonly<Record<string, string>>

const SAY_SETTINGS = 'model settings go into settings, such as { settings: { maxOutputTokens: 500 } }'
const SAY_STEPS = 'to limit the steps of a turn, write limits: { toolRounds: 20 } in defineAgent'
const SAY_EVENTS = 'to follow a turn, read its events: for await (const event of session.send(…))'
const SAY_AGENT = 'it is part of the agent: write it in defineAgent'
const SAY_WINDOW =
  'how much of a conversation the model reads is its window, such as { window: { exchanges: 20 } }; the session keeps all messages'
const SAY_VOICE =
  'for answers that are spoken write profile: voice, which @baton/host exports; createVoice from @baton/client/voice speaks them'
const SAY_INTERRUPT =
  'write onInterrupt: "cancel", "finish", "background" or "detach" in tool(): what happens to the tool when the user interrupts'
const SAY_PARALLEL = 'write parallel: false in tool() for a tool that must not run next to another call'
const SAY_MESSAGE = 'send a message with session.send(…); the session keeps the older ones'

const SAY_MCP =
  'tools of MCP servers are sources: import { createMcpServers } from "@baton/mcp/client" and write sources: createMcpServers({ … }).sources'
/** Also for an agent among the tools. */
export const SAY_OTHER_AGENT = 'another agent is a tool: write tools: [delegate({ agent: writer, description: "…" })]'
const SAY_POLICY =
  'to decide before a tool runs, write approvalPolicy: (call) => … in defineAgent, or approval in tool()'
const SAY_ANSWER = 'to check an answer before it is accepted, write checkAnswer in defineAgent'
const SAY_INPUT = 'to check a message, do it before session.send(…)'
const SAY_MIDDLE =
  'what middleware does is prepareStep (before each model call), approvalPolicy (before a tool), and checkAnswer (after the answer)'
const SAY_STORE = 'the store is part of the host: createHost({ store })'
const SAY_SESSION = 'a conversation is a session of the host: host.session(id)'
const SAY_TOOL_APPROVAL = 'write approval in tool(), or approvalPolicy in defineAgent'

const SETTINGS_APART: Elsewhere = {
  temperature: SAY_SETTINGS,
  maxOutputTokens: SAY_SETTINGS,
  maxTokens: SAY_SETTINGS,
  max_tokens: SAY_SETTINGS,
  topP: SAY_SETTINGS,
  topK: SAY_SETTINGS,
  seed: SAY_SETTINGS,
  stopSequences: SAY_SETTINGS,
  stop: SAY_SETTINGS,
  presencePenalty: SAY_SETTINGS,
  frequencyPenalty: SAY_SETTINGS,
  toolChoice: SAY_SETTINGS,
  reasoning: SAY_SETTINGS,
  effort: SAY_SETTINGS,
  providerOptions: SAY_SETTINGS,
  modelSettings: 'settings',
}

const OUTPUTS: Elsewhere = {
  schema: 'output',
  outputSchema: 'output',
  outputType: 'output',
  experimental_output: 'output',
  responseFormat: 'output',
  response_format: 'output',
}

const CALLBACKS: Elsewhere = {
  onFinish: SAY_EVENTS,
  onEnd: SAY_EVENTS,
  onStepFinish: SAY_EVENTS,
  onStepEnd: SAY_EVENTS,
  onChunk: SAY_EVENTS,
  onError: SAY_EVENTS,
}

export const AGENT_ELSEWHERE: Elsewhere = {
  ...SETTINGS_APART,
  ...OUTPUTS,
  ...CALLBACKS,
  system: 'instructions',
  systemPrompt: 'instructions',
  system_prompt: 'instructions',
  models: 'model',
  id: 'name',
  prompt: SAY_MESSAGE,
  messages: SAY_MESSAGE,
  stopConditions: 'stopWhen',
  maxSteps: SAY_STEPS,
  maxTurns: SAY_STEPS,
  activeTools: 'prepareStep chooses the tools of a step: prepareStep: () => ({ tools: ["search"] })',
  maxRetries: 'write retry: { attempts: 3 }',
  timeout: 'write limits: { turnMs: 60_000 }',
  abortSignal: 'it belongs to a message: session.send(text, { signal })',
  toolApproval: SAY_TOOL_APPROVAL,
  needsApproval: SAY_TOOL_APPROVAL,
  requireToolApproval: SAY_TOOL_APPROVAL,
  interruptOn: SAY_TOOL_APPROVAL,
  canUseTool: SAY_POLICY,
  beforeToolCall: SAY_POLICY,
  afterToolCall: 'change the result in execute of tool()',
  mcp: SAY_MCP,
  mcpServers: SAY_MCP,
  mcp_servers: SAY_MCP,
  agents: SAY_OTHER_AGENT,
  subagents: SAY_OTHER_AGENT,
  subAgents: SAY_OTHER_AGENT,
  handoffs: SAY_OTHER_AGENT,
  handoffDescription: SAY_OTHER_AGENT,
  workflows: 'a workflow is a program: call its steps in execute of a tool, or send its messages with session.send(…)',
  inputGuardrails: SAY_INPUT,
  inputProcessors: SAY_INPUT,
  outputGuardrails: SAY_ANSWER,
  outputProcessors: SAY_ANSWER,
  scorers: SAY_ANSWER,
  toolUseBehavior: 'stopWhen',
  middleware: SAY_MIDDLE,
  hooks: SAY_MIDDLE,
  checkpointer: SAY_STORE,
  store: SAY_STORE,
  storage: SAY_STORE,
  skills: 'write short ones into instructions, and offer long ones with a tool that reads them',
  initialState: SAY_SESSION,
  sessionId: SAY_SESSION,
  threadId: SAY_SESSION,
  recursionLimit: SAY_STEPS,
  iterationLimit: SAY_STEPS,
  experimental_context: 'pass services for tools to createHost({ services }); tools get them as context.services',
  context: 'pass services for tools to createHost({ services }); tools get them as context.services',
  memory: SAY_WINDOW,
  workingMemory:
    'keep notes about a user with your own tool and prepareStep: see "Remember a user" in docs/cookbook.md',
  lastMessages: SAY_WINDOW,
  contextWindow: SAY_WINDOW,
  contextTokens: SAY_WINDOW,
  summarise: SAY_WINDOW,
  compaction: SAY_WINDOW,
  transformContext: SAY_WINDOW,
  cache: SAY_SETTINGS,
  cacheControl: SAY_SETTINGS,
  thinkingLevel: SAY_SETTINGS,
  voice: SAY_VOICE,
  tts: SAY_VOICE,
  llm: 'model',
  allowInterruptions: SAY_INTERRUPT,
  toolExecution: SAY_PARALLEL,
  telemetry: 'traces are an observer of the host: createHost({ observers: [traceSessions(…)] })',
  experimental_telemetry: 'traces are an observer of the host: createHost({ observers: [traceSessions(…)] })',
}

export const TOOL_ELSEWHERE: Elsewhere = {
  needsApproval: 'approval',
  requireApproval: 'approval',
  requiresApproval: 'approval',
  toolApproval: 'approval',
  inputSchema: 'input',
  parameters: 'input',
  schema: 'input',
  args: 'input',
  outputSchema: 'output',
  id: 'name',
  label: 'title',
  handler: 'execute',
  run: 'execute',
  func: 'execute',
  function: 'execute',
  inputExamples: 'put examples into the description',
  strict: 'it is a model setting: defineAgent({ settings: { strictTools: true } })',
  contextSchema: 'pass services for tools to createHost({ services }); tools get them as context.services',
  abortSignal: 'execute gets it: context.signal',
  onUpdate: 'execute gets it: context.progress',
  executionMode: SAY_PARALLEL,
  allowInterruptions: SAY_INTERRUPT,
  cancelOnInterruption: SAY_INTERRUPT,
}

export const SEND_ELSEWHERE: Elsewhere = {
  ...SETTINGS_APART,
  ...OUTPUTS,
  ...CALLBACKS,
  abortSignal: 'signal',
  id: 'inputId',
  messageId: 'inputId',
  system: SAY_AGENT,
  instructions: SAY_AGENT,
  tools: SAY_AGENT,
  stopWhen: SAY_STEPS,
  maxSteps: SAY_STEPS,
  prompt: 'the message is the first argument: session.send("…")',
  messages: 'the message is the first argument: session.send("…"); the session keeps the older ones',
  timeout: 'pass signal: AbortSignal.timeout(60_000), or write limits: { turnMs: 60_000 } in defineAgent',
}

export const CONFIGURE_ELSEWHERE: Elsewhere = {
  ...SETTINGS_APART,
  system: SAY_AGENT,
  instructions: SAY_AGENT,
  tools: SAY_AGENT,
}

export const SETTINGS_ELSEWHERE: Elsewhere = {
  maxTokens: 'maxOutputTokens',
  max_tokens: 'maxOutputTokens',
  maxCompletionTokens: 'maxOutputTokens',
  stopSequences: 'stop',
  reasoning: 'effort',
  reasoningEffort: 'effort',
  parallelToolCalls: 'parallelCalls',
  providerOptions: 'provider',
  topK: 'provider-specific fields go into provider, such as { provider: { anthropic: { top_k: 5 } } }',
  presencePenalty: 'provider-specific fields go into provider, such as { provider: { openai: { … } } }',
  frequencyPenalty: 'provider-specific fields go into provider, such as { provider: { openai: { … } } }',
}

export const LIMITS_ELSEWHERE: Elsewhere = { maxSteps: 'toolRounds', steps: 'toolRounds', rounds: 'toolRounds' }

export const WINDOW_ELSEWHERE: Elsewhere = {
  maxTokens: 'contextTokens',
  tokenLimit: 'contextTokens',
  contextWindow: 'contextTokens',
  lastMessages: 'exchanges',
  maxMessages: 'exchanges',
  maxTurns: 'exchanges',
  keepRecentTokens: 'keepExchanges',
  compaction: 'summarise',
}

export const RETRY_ELSEWHERE: Elsewhere = { maxRetries: 'attempts', maxAttempts: 'attempts' }

/** Names for the fields of an event and of a reminder; an event over HTTP has `type` and `data`. */
export const EVENT_ELSEWHERE: Elsewhere = {
  type: 'name',
  kind: 'name',
  data: 'detail',
  payload: 'detail',
  text: 'message',
  prompt: 'message',
}

/** Names for the options of `at` and `every`. */
export const REMINDER_ELSEWHERE: Elsewhere = { timezone: 'zone', timeZone: 'zone', tz: 'zone', name: 'id' }

/** Names for calls that take a message id: `rewind`, `fork`. */
export const MESSAGE_ELSEWHERE: Elsewhere = { messageId: 'message', id: 'message', upTo: 'message' }
