// The JSON Schema dialect of each provider, as plain data. Each rule cites its source.

/** A part of a schema that a dialect cannot express. */
export interface SchemaLoss {
  /** For example `properties.address.items`; empty for the root. */
  readonly path: string
  readonly keyword: string
  /**
   * `described`: expressed in the description instead. `widened`: allows the model more than the schema. `narrowed`:
   * allows it less. `invalid`: not a valid value in any JSON Schema draft, so dropped. `degraded`: the whole schema
   * could not be expressed.
   */
  readonly how: 'described' | 'widened' | 'narrowed' | 'invalid' | 'degraded'
}

export interface Dialect {
  readonly name: DialectName
  /**
   * Supported keywords; others are dropped, and described in words if that helps the model. If omitted, all are
   * supported.
   */
  readonly keywords?: ReadonlySet<string>
  /** Rejected keywords. */
  readonly refused?: ReadonlySet<string>
  /** The only keywords allowed at the root; if omitted, the same as elsewhere. */
  readonly rootKeywords?: ReadonlySet<string>
  /** Whether `$ref` is inlined; a recursive schema ends where it repeats. */
  readonly inlinesRefs: boolean
  /** How nullable values are expressed: as an additional type, or by a keyword. */
  readonly nullable: 'type' | 'keyword'
  /** Whether objects are closed and a grammar holds the model to the schema. */
  readonly isStrict: boolean
  /** For strict dialects: whether an optional property is sent as null. */
  readonly optionalsAsNull?: boolean
  /** Constructs not allowed in a pattern. */
  readonly refusedPatterns?: RegExp
  /** Whether values of `enum` must be strings. */
  readonly textEnums: boolean
  /** Supported property names; others are mentioned in the description. If omitted, any name. */
  readonly propertyNames?: RegExp
  /** Supported values of `format`; if omitted, any. */
  readonly formats?: ReadonlySet<string>
}

export type DialectName =
  'anthropic' | 'anthropic-strict' | 'openai' | 'openai-strict' | 'gemini' | 'bedrock' | 'nova' | 'gguf'

function words(text: string): readonly string[] {
  return text.split(' ')
}

const STRUCTURE = words('type properties required items enum anyOf description title')

/** Source: openai/lib/transform.js; pydantic-ai profiles/openai.py. */
const OPENAI_STRICT = [
  ...STRUCTURE,
  ...words('additionalProperties $ref $defs definitions const pattern format minimum maximum exclusiveMinimum'),
  ...words('exclusiveMaximum multipleOf minItems maxItems'),
]

/**
 * @anthropic-ai/sdk/lib/transform-json-schema.js: no limits on numbers, lengths, patterns and items. Closed parts of an
 * `allOf` together allow nothing, so they are merged; a recursive schema is 400 "Circular reference detected".
 */
const ANTHROPIC_STRICT = [...STRUCTURE, ...words('additionalProperties const format')]

/**
 * genai.d.ts `Schema`: a subset of OpenAPI 3.0, without `additionalProperties`, which gemini-shape.ts reads and
 * removes.
 */
const GEMINI = [
  ...STRUCTURE,
  'additionalProperties',
  ...words('default example format nullable pattern propertyOrdering maximum minimum maxItems minItems maxLength'),
  ...words('minLength maxProperties minProperties'),
]

/** 400 "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'". */
const ANTHROPIC_NAMES = /^[a-zA-Z0-9_.-]{1,64}$/

const ANY_JSON_SCHEMA = { inlinesRefs: false, nullable: 'type', isStrict: false, textEnums: false } as const
/** 400 "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level": compile-schema.ts folds them. */
export const NOT_AT_ROOT: ReadonlySet<string> = new Set([
  'oneOf',
  'anyOf',
  'allOf',
  'enum',
  'not',
  'if',
  'then',
  'else',
])

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  /** Tools: JSON Schema 2020-12. */
  anthropic: { ...ANY_JSON_SCHEMA, name: 'anthropic', propertyNames: ANTHROPIC_NAMES },
  'anthropic-strict': {
    name: 'anthropic-strict',
    keywords: new Set(ANTHROPIC_STRICT),
    inlinesRefs: true,
    nullable: 'type',
    isStrict: true,
    textEnums: false,
    propertyNames: ANTHROPIC_NAMES,
    formats: new Set(words('date-time time date duration email hostname uri ipv4 ipv6 uuid')),
  },
  openai: { ...ANY_JSON_SCHEMA, name: 'openai' },
  'openai-strict': {
    name: 'openai-strict',
    keywords: new Set(OPENAI_STRICT),
    inlinesRefs: false,
    nullable: 'type',
    isStrict: true,
    optionalsAsNull: true,
    refusedPatterns: /\(\?<?[=!]/,
    textEnums: false,
  },
  gemini: {
    name: 'gemini',
    keywords: new Set(GEMINI),
    inlinesRefs: true,
    nullable: 'keyword',
    isStrict: false,
    textEnums: true,
    // genai.d.ts FunctionDeclaration.
    propertyNames: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
    // 400 "only 'enum' and 'date-time' are supported for STRING type".
    formats: new Set(words('enum date-time float double int32 int64')),
  },
  /** node-llama-cpp 3, GbnfJsonSchema: a grammar writes every property, so optional ones may be null. */
  gguf: {
    name: 'gguf',
    keywords: new Set(words('type properties required items enum const oneOf additionalProperties description')),
    inlinesRefs: true,
    nullable: 'type',
    isStrict: true,
    optionalsAsNull: true,
    textEnums: false,
  },
  bedrock: { ...ANY_JSON_SCHEMA, name: 'bedrock' },
  /** Amazon Nova user guide, tool troubleshooting: the root holds nothing but type, properties, required. */
  nova: {
    ...ANY_JSON_SCHEMA,
    name: 'nova',
    rootKeywords: new Set(['type', 'properties', 'required']),
    refused: new Set(['$schema', '$id', '$ref', '$defs', 'definitions']),
    inlinesRefs: true,
  },
}
