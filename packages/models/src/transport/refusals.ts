// Error codes and messages with which providers reject a request: it does not fit the model's window, it is too large,
// or an image, file or text is unacceptable. Any other rejection is an ordinary invalid request.
import type { ErrorCode } from '@baton/core'

export interface Refusal {
  readonly message: string
  readonly type?: string
  readonly code?: string
}

/** Returns `undefined` if the message adds nothing to the status. */
export function codeOfRefusal(said: Refusal): ErrorCode | undefined {
  if (saysContextOverflow(said)) return 'context_overflow'
  if (saysTooLarge(said)) return 'model_request_too_large'
  return saysContentRefused(said) ? 'model_content_refused' : undefined
}

/** Maximum characters of a message that are examined. */
const MESSAGE_CHARS = 8 * 1024

function saysOne(patterns: readonly RegExp[], { message, type, code }: Refusal): boolean {
  const text = [code, type, message].map((words = '') => words.slice(0, MESSAGE_CHARS)).join(' ')
  return patterns.some((pattern) => pattern.test(text))
}

/** Messages that mean the request does not fit the model's window, verbatim as seen. */
const OVERFLOW = [
  /prompt is too long/i, // Anthropic: "prompt is too long: 3333404 tokens > 200000 maximum" (recorded)
  /input length and `?max_tokens`? exceed context limit/i, // Anthropic, when max_tokens is what does not fit
  /context[_ ]length[_ ]exceeded/i, // OpenAI's code
  /maximum context length/i, // OpenAI chat and vLLM
  // vLLM: "You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length is only 131072 tokens"
  /context length is only \d+/i,
  /longer than the maximum model length/i, // vLLM: "The decoder prompt (length 9) is longer than the maximum model length of 8."
  /exceeds the context window/i, // OpenAI Responses
  /input token count[^\n]{0,80}exceeds the maximum/i, // Gemini
  /input is too long for requested model/i, // Bedrock
  /prompt too long; exceeded max context length/i, // Ollama
  /too_many_prompt_tokens/, // Perplexity's type
  /ContextWindowExceededError/, // LiteLLM's proxy: "litellm.ContextWindowExceededError: …"
  /too many (input )?tokens|maximum prompt length|exceeds the available context size/i, // Bedrock, xAI, llama.cpp
]

export function saysContextOverflow(said: Refusal): boolean {
  return saysOne(OVERFLOW, said)
}

/** Patterns that find the window's size in tokens, verbatim as above. */
const WINDOW = [
  /context length is (?:only )?(\d+) tokens/i,
  /maximum model length of (\d+)/i,
  /exceed context limit: \d+ \+ \d+ > (\d+)/i, // Anthropic: "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000"
  /available context size \((\d+) tokens\)/i, // llama.cpp: "request (9 tokens) exceeds the available context size (8 tokens), …"
]

/** Size of the model's window in tokens, if the rejection mentions it. */
export function readContextTokens(message: string): number | undefined {
  const said = message.slice(0, MESSAGE_CHARS)
  const tokens = Number(WINDOW.map((pattern) => pattern.exec(said)?.[1]).find((each) => each !== undefined))
  return tokens > 0 && Number.isSafeInteger(tokens) ? tokens : undefined
}

/** Messages that mean a request has too many bytes, images or pixels, verbatim as seen. */
const TOO_LARGE = [
  /request_too_large|request exceeds the maximum/i, // Anthropic, 413: "Request exceeds the maximum size" (anthropic-sdk-python#938)
  // Gemini: "Request payload size exceeds the limit: 20971520 bytes."
  /request payload size exceeds the limit/i,
  /request (?:entity |body |payload )?(?:is )?too large/i, // proxies; OpenAI and Groq: "Request too large for gpt-4o …"
  /payload too large|content too large/i, // RFC 9110 and its forerunners
  // "Maximum request body size 1048576 exceeded, actual body size 1056562" (gemini-cli#13776)
  /maximum request body size \d+ exceeded/i,
  // Anthropic: "too many images and documents: 104 + 1 > 100" (claude-code#23392); Bedrock: "too many images: image_count > 20"
  // (boto3#4632); Azure: "Too many images in request. Max is 10."
  /too many images/i,
  /too much media: \d+ document pages/i, // Anthropic: "Too much media: 0 document pages + 103 images > 100" (claude-code#3397)
  // Anthropic: "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels" (claude-code#9375)
  /many-image requests/i,
  /at most \d+ images?(?:\(s\))? may be provided/i, // vLLM: "At most 5 image(s) may be provided in one request." (vllm#17092)
  // MiniMax: "request contains 52 images, exceeding the maximum of 50 allowed per request" (opencode#47721)
  /request contains \d+ images, exceeding the maximum/i,
  // OpenAI: "Total image size is 50.6MB, which exceeds the allowed limit of 50.0MB." (open-webui#26967)
  /total image size is [\d.]+ ?MB, which exceeds/i,
  /can't include more than \d+ (?:documents|images)/i, // Bedrock: "You can't include more than 5 documents in a request."
]

export function saysTooLarge(said: Refusal): boolean {
  return saysOne(TOO_LARGE, said)
}

/** Codes of OpenAI and Azure, with or without the type `invalid_request_error`. */
const CODES: ReadonlySet<string> = new Set([
  // ResponseError of openai 7.57; invalid_image_format also over Chat Completions (STranslate/STranslate#277).
  'invalid_image',
  'invalid_image_format',
  'invalid_base64_image',
  'invalid_image_url',
  'image_too_large',
  'image_too_small',
  'image_parse_error',
  'image_content_policy_violation',
  'image_file_too_large',
  'unsupported_image_media_type',
  'empty_image_file',
  'image_file_not_found',
  'bio_policy',
  'misalignment_policy_violation',
  // Azure: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy." (openai-python#331)
  'content_filter',
])

/** Messages, verbatim as seen. */
const WORDS = [
  // Anthropic, also behind Bedrock: "…image.source.base64: image exceeds 5 MB maximum: 15908784 bytes > 5242880 bytes"
  // (anthropics/claude-code#10612)
  /image exceeds [\d.]+ MB maximum/i,
  // "At least one of the image dimensions exceed max allowed size: 8000 pixels" (claude-code#9375)
  /image (?:dimensions )?exceed max allowed size/i,
  /could not process (?:image|pdf)/i, // Anthropic (claude-code#46127, anthropic-sdk-python#903)
  /image format \S+ not supported/i, // Anthropic: "Image format image/png not supported" (claude-code#42399)
  /a maximum of \d+ pdf pages may be provided/i, // Anthropic (claude-code#5707)
  /unable to process input image/i, // Gemini (pollinations/pollinations#4157)
  /provided image is not valid/i, // Gemini (lumina-ai-inc/chunkr#341)
  /the document has no pages/i, // Gemini (google-gemini/gemini-cli#13808)
  /you uploaded an unsupported image/i, // OpenAI (CosmosShadow/gptpdf#6)
  /image data you provided does not represent a valid image/i, // OpenAI Responses (openai/codex#4946)
]

function saysContentRefused({ message, type, code }: Refusal): boolean {
  if ((code !== undefined && CODES.has(code)) || (type !== undefined && CODES.has(type))) return true
  return WORDS.some((pattern) => pattern.test(message.slice(0, MESSAGE_CHARS)))
}
