// Differences between servers that speak Chat Completions in what they accept. What they send is read leniently and
// needs no setting. Every field says what was seen; servers that are not listed get COMPATIBLE_QUIRKS.

export interface OpenAiChatQuirks {
  /**
   * Whether the server takes tools. `unknown`: a server of one's own does by its model, chat template and flags; some refuse
   * them (errors.ts has their words), some leave them out and say nothing (llama.cpp without --jinja, before it was the default).
   */
  readonly tools: 'native' | 'unknown'
  /** `max_completion_tokens` is refused by Mistral (422 `extra_forbidden`), `max_tokens` by OpenAI's reasoning models. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Whether `stream_options.include_usage` is sent; Mistral sends usage without being asked (recorded). */
  readonly streamOptions: boolean
  /** Whether the session becomes `prompt_cache_key`. */
  readonly promptCacheKey: boolean
  /**
   * `all`; `words`: LM Studio takes no object ("Invalid tool_choice type: 'object'. Supported string values: none, auto,
   * required"); `ignored`: Ollama does what it likes (ollama/ollama#17921), so the tools themselves say what may be called.
   */
  readonly toolChoice: 'all' | 'words' | 'ignored'
  /** `mistral`: 400 "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9". */
  readonly callIds: 'any' | 'mistral'
  /**
   * The part of a model's reasoning that goes back with its message. `nothing`: OpenAI has none, Groq ("property 'reasoning_content'
   * is unsupported") and Mistral (422 `extra_forbidden`) refuse it. `same`: under the field that it came in. `always`: that
   * field also where there was none, for DeepSeek ("The `reasoning_content` in the thinking mode must be passed back").
   * `details`: OpenRouter's `reasoning_details`, with their signatures.
   */
  readonly reasoningBack: 'nothing' | 'same' | 'always' | 'details'
  /** How a request asks for reasoning; see encode-reasoning.ts. */
  readonly reasoning: 'openai' | 'groq' | 'openrouter' | 'deepseek' | 'effort' | 'none'
  /** Mistral: 400 "Unexpected role 'user' after role 'tool'" (code 3230). */
  readonly assistantAfterResults: boolean
  /** Mistral: 400 "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant". */
  readonly prefixLast: boolean
  /** Whether `image_url` parts are understood at all; a model behind it may still refuse them. */
  readonly images: boolean
  /** Whether reasoning may stand in the text, between `<think>` and `</think>`. */
  readonly thinkTags: boolean
  /**
   * Whether `response_format: json_schema` is kept to. `without-tools`: engines that build a grammar of it, which leaves no
   * room for calls. `none`: refused (DeepSeek: "This response_format type is unavailable now"), or so by some of its models.
   */
  readonly output: 'native' | 'without-tools' | 'none'
  /** Mistral: 422 `extra_forbidden` for `seed`. */
  readonly seedField: 'seed' | 'random_seed'
  /** Whether PDF files may be sent as `file` parts. */
  readonly files: boolean
  /** Bytes of a request; absent: not known. */
  readonly requestBytesMax?: number
}

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

/** Fields that most servers accept, and none is known to refuse. */
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
