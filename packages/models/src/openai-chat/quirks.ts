// Differences in what Chat Completions servers accept. What they send is read leniently and needs no setting. Each
// field cites the observed behavior; unlisted servers get COMPATIBLE_QUIRKS.

/** How a server of Chat Completions differs from OpenAI's. */
export interface OpenAiChatQuirks {
  /**
   * Whether the server supports tools. `unknown`: a self-hosted server depends on its model, chat template and flags;
   * some reject tools (see errors.ts for their messages), some silently ignore them (older llama.cpp without --jinja).
   */
  readonly tools: 'native' | 'unknown'
  /** Mistral rejects `max_completion_tokens` (422 `extra_forbidden`), OpenAI's reasoning models reject `max_tokens`. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Whether to send `stream_options.include_usage`. Mistral sends usage unasked (recorded). */
  readonly streamOptions: boolean
  /** Whether to send the session as `prompt_cache_key`. */
  readonly promptCacheKey: boolean
  /**
   * `all`; `words`: LM Studio accepts no object ("Invalid tool_choice type: 'object'. Supported string values: none,
   * auto, required"); `ignored`: Ollama ignores the field (ollama/ollama#17921), so only the callable tools are
   * declared.
   */
  readonly toolChoice: 'all' | 'words' | 'ignored'
  /** `mistral`: 400 "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9". */
  readonly callIds: 'any' | 'mistral'
  /**
   * The part of a model's reasoning that goes back with its message. `nothing`: OpenAI sends none, Groq ("property
   * 'reasoning_content' is unsupported") and Mistral (422 `extra_forbidden`) reject it. `same`: in the field it came
   * in. `always`: that field even if it was empty, for DeepSeek ("The `reasoning_content` in the thinking mode must be
   * passed back"). `details`: OpenRouter's `reasoning_details`, with their signatures.
   */
  readonly reasoningBack: 'nothing' | 'same' | 'always' | 'details'
  /** How a request asks for reasoning; see encode-reasoning.ts. */
  readonly reasoning: 'openai' | 'groq' | 'openrouter' | 'deepseek' | 'effort' | 'none'
  /** Mistral: 400 "Unexpected role 'user' after role 'tool'" (code 3230). */
  readonly assistantAfterResults: boolean
  /** Mistral: 400 "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant". */
  readonly prefixLast: boolean
  /** Whether `image_url` parts are supported at all; the model may still reject them. */
  readonly images: boolean
  /** Whether the text may contain reasoning between `<think>` and `</think>`. */
  readonly thinkTags: boolean
  /**
   * Whether `response_format: json_schema` is enforced. `without-tools`: engines that compile it to a grammar, which
   * rules out calls. `none`: rejected (DeepSeek: "This response_format type is unavailable now"), or rejected by some
   * of its models.
   */
  readonly output: 'native' | 'without-tools' | 'none'
  /** Mistral: 422 `extra_forbidden` for `seed`. */
  readonly seedField: 'seed' | 'random_seed'
  /** Whether PDFs may be sent as `file` parts. */
  readonly files: boolean
  /** Maximum bytes of a request; omitted if unknown. */
  readonly requestBytesMax?: number
}

/** Quirks of api.openai.com. Start from it for a server that behaves as OpenAI does. */
export const OPENAI_QUIRKS: OpenAiChatQuirks = {
  tools: 'native',
  // "Up to 50 MB total payload size per request" (platform.openai.com/docs/guides/images-vision).
  requestBytesMax: 50_000_000,
  maxTokensField: 'max_completion_tokens',
  streamOptions: true,
  promptCacheKey: true,
  toolChoice: 'all',
  callIds: 'any',
  reasoningBack: 'nothing',
  reasoning: 'openai',
  assistantAfterResults: false,
  prefixLast: false,
  images: true,
  thinkTags: false,
  output: 'native',
  seedField: 'seed',
  files: true,
}

/** Fields that most servers accept and none is known to reject. */
export const COMPATIBLE_QUIRKS: OpenAiChatQuirks = {
  tools: 'unknown',
  maxTokensField: 'max_tokens',
  streamOptions: true,
  promptCacheKey: false,
  toolChoice: 'all',
  callIds: 'any',
  reasoningBack: 'same',
  reasoning: 'effort',
  assistantAfterResults: false,
  prefixLast: false,
  images: true,
  thinkTags: true,
  output: 'none',
  seedField: 'seed',
  files: false,
}
