// Known Chat Completions servers by name, as plain data: address, key, and the variables for both. Other differences
// are in openai-chat/quirks.ts.
import type { OpenAiChatQuirks } from './openai-chat/quirks.ts'
import { COMPATIBLE_QUIRKS, OPENAI_QUIRKS } from './openai-chat/quirks.ts'

export interface Preset {
  /** Name shown in errors. */
  readonly label: string
  /** If omitted, the caller or the variable must provide it. */
  readonly baseUrl?: string
  /** The API's path, added to an address without one; `/v1` by default. */
  readonly basePath?: string
  readonly baseUrlVariable: string
  readonly keyVariable: string
  /** False for local servers. */
  readonly needsKey: boolean
  /** The model used if only the provider is named. */
  readonly modelVariable: string
  readonly defaultModel?: string
  readonly quirks: OpenAiChatQuirks
  /** Milliseconds of silence allowed: a local server first loads the model and thinks slowly. 30 s if omitted. */
  readonly silenceMs?: number
}

/** Milliseconds a local server may take to load a model on the first request. */
export const LOADING_MS = 180_000

/** Hosting providers make sure that tool calls work. */
const HOSTED_QUIRKS: OpenAiChatQuirks = { ...COMPATIBLE_QUIRKS, tools: 'native' }

const OPENAI: Preset = {
  label: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  baseUrlVariable: 'OPENAI_BASE_URL',
  keyVariable: 'OPENAI_API_KEY',
  needsKey: true,
  modelVariable: 'OPENAI_MODEL',
  defaultModel: 'gpt-5-mini',
  quirks: OPENAI_QUIRKS,
}

export const PRESETS: Readonly<Record<string, Preset>> = {
  openai: OPENAI,
  'openai-chat': OPENAI,
  azure: {
    label: 'Azure OpenAI',
    basePath: '/openai/v1',
    baseUrlVariable: 'AZURE_OPENAI_ENDPOINT',
    keyVariable: 'AZURE_OPENAI_API_KEY',
    needsKey: true,
    modelVariable: 'AZURE_OPENAI_DEPLOYMENT',
    quirks: OPENAI_QUIRKS,
  },
  'openai-compatible': {
    label: 'The OpenAI-compatible server',
    baseUrlVariable: 'OPENAI_BASE_URL',
    keyVariable: 'OPENAI_API_KEY',
    needsKey: false,
    modelVariable: 'OPENAI_MODEL',
    quirks: COMPATIBLE_QUIRKS,
    silenceMs: LOADING_MS,
  },
  ollama: {
    label: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    baseUrlVariable: 'OLLAMA_BASE_URL',
    keyVariable: 'OLLAMA_API_KEY',
    needsKey: false,
    modelVariable: 'OLLAMA_MODEL',
    quirks: { ...COMPATIBLE_QUIRKS, toolChoice: 'ignored', output: 'without-tools' },
    silenceMs: LOADING_MS,
  },
  lmstudio: {
    label: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    baseUrlVariable: 'LMSTUDIO_BASE_URL',
    keyVariable: 'LMSTUDIO_API_KEY',
    needsKey: false,
    modelVariable: 'LMSTUDIO_MODEL',
    quirks: { ...COMPATIBLE_QUIRKS, toolChoice: 'words', output: 'without-tools' },
    silenceMs: LOADING_MS,
  },
  vllm: {
    label: 'vLLM',
    baseUrl: 'http://127.0.0.1:8000/v1',
    baseUrlVariable: 'VLLM_BASE_URL',
    keyVariable: 'VLLM_API_KEY',
    needsKey: false,
    modelVariable: 'VLLM_MODEL',
    quirks: { ...COMPATIBLE_QUIRKS, output: 'without-tools' },
    silenceMs: LOADING_MS,
  },
  groq: {
    label: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    baseUrlVariable: 'GROQ_BASE_URL',
    keyVariable: 'GROQ_API_KEY',
    needsKey: true,
    modelVariable: 'GROQ_MODEL',
    quirks: {
      ...HOSTED_QUIRKS,
      maxTokensField: 'max_completion_tokens',
      reasoningBack: 'nothing',
      reasoning: 'groq',
      // console.groq.com/docs/vision: "Maximum allowed size for a request containing a base64 encoded image is 4MB".
      requestBytesMax: 4_000_000,
    },
  },
  openrouter: {
    label: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    baseUrlVariable: 'OPENROUTER_BASE_URL',
    keyVariable: 'OPENROUTER_API_KEY',
    needsKey: true,
    modelVariable: 'OPENROUTER_MODEL',
    quirks: { ...HOSTED_QUIRKS, reasoningBack: 'details', reasoning: 'openrouter', files: true },
  },
  deepseek: {
    label: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com/v1',
    baseUrlVariable: 'DEEPSEEK_BASE_URL',
    keyVariable: 'DEEPSEEK_API_KEY',
    needsKey: true,
    modelVariable: 'DEEPSEEK_MODEL',
    quirks: { ...HOSTED_QUIRKS, reasoningBack: 'always', reasoning: 'deepseek', images: false },
  },
  xai: {
    label: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    baseUrlVariable: 'XAI_BASE_URL',
    keyVariable: 'XAI_API_KEY',
    needsKey: true,
    modelVariable: 'XAI_MODEL',
    quirks: { ...HOSTED_QUIRKS, reasoningBack: 'nothing', output: 'native' },
  },
  together: {
    label: 'Together',
    baseUrl: 'https://api.together.xyz/v1',
    baseUrlVariable: 'TOGETHER_BASE_URL',
    keyVariable: 'TOGETHER_API_KEY',
    needsKey: true,
    modelVariable: 'TOGETHER_MODEL',
    quirks: { ...HOSTED_QUIRKS, output: 'without-tools' },
  },
  fireworks: {
    label: 'Fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    baseUrlVariable: 'FIREWORKS_BASE_URL',
    keyVariable: 'FIREWORKS_API_KEY',
    needsKey: true,
    modelVariable: 'FIREWORKS_MODEL',
    quirks: { ...HOSTED_QUIRKS, output: 'without-tools' },
  },
  cerebras: {
    label: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    baseUrlVariable: 'CEREBRAS_BASE_URL',
    keyVariable: 'CEREBRAS_API_KEY',
    needsKey: true,
    modelVariable: 'CEREBRAS_MODEL',
    quirks: {
      ...HOSTED_QUIRKS,
      maxTokensField: 'max_completion_tokens',
      reasoningBack: 'nothing',
      output: 'without-tools',
    },
  },
  mistral: {
    label: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    baseUrlVariable: 'MISTRAL_BASE_URL',
    keyVariable: 'MISTRAL_API_KEY',
    needsKey: true,
    modelVariable: 'MISTRAL_MODEL',
    quirks: {
      ...HOSTED_QUIRKS,
      streamOptions: false,
      callIds: 'mistral',
      reasoningBack: 'nothing',
      reasoning: 'none',
      assistantAfterResults: true,
      prefixLast: true,
      seedField: 'random_seed',
      output: 'without-tools',
    },
  },
}

export function findPreset(provider: string): Preset | undefined {
  return Object.hasOwn(PRESETS, provider) ? PRESETS[provider] : undefined
}
