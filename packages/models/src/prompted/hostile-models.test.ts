// Answers that models of each format actually write, and lookalikes. Based on the parser tests of vLLM, SGLang and
// llama.cpp (2026-11), with other tools. Each text is read with every possible split.
import type { FinishReason } from '@baton/core/internal'
import { afterAll, describe, expect, test } from 'vitest'
import type { PromptedFormatName } from './formats.ts'
import type { Meaning } from './hostile-texts.test-kit.ts'
import { readAllCuts } from './hostile-texts.test-kit.ts'

type Row = readonly [name: string, text: string, meaning: Partial<Meaning>, finish?: FinishReason]

const sky = ['look', { at: 'sky' }] as const
const sea = ['look', { at: 'sea' }] as const
const none = ['look', {}] as const
const JSON_SKY = '{"name": "look", "arguments": {"at": "sky"}}'
const JSON_SEA = '{"name": "look", "arguments": {"at": "sea"}}'

const ROWS: Partial<Record<PromptedFormatName, readonly Row[]>> = {
  hermes: [
    ['a call', `<tool_call>\n${JSON_SKY}\n</tool_call>`, { calls: [sky] }],
    ['a call on one line', `Sure!<tool_call>${JSON_SKY}</tool_call>`, { calls: [sky], said: 'Sure!' }],
    [
      'two calls',
      `<tool_call>\n${JSON_SKY}\n</tool_call>\n<tool_call>\n${JSON_SEA}\n</tool_call>`,
      { calls: [sky, sea] },
    ],
    ['two calls in one tag', `<tool_call>\n${JSON_SKY}\n${JSON_SEA}\n</tool_call>`, { calls: [sky, sea] }],
    ['a list in one tag', `<tool_call>[${JSON_SKY}, ${JSON_SEA}]</tool_call>`, { calls: [sky, sea] }],
    ['words behind', `<tool_call>${JSON_SKY}</tool_call>\nDone.`, { calls: [sky], said: '\nDone.' }],
    ['the closing tag twice', `<tool_call>${JSON_SKY}</tool_call>\n</tool_call>`, { calls: [sky] }],
    ['the end token', `<tool_call>${JSON_SKY}</tool_call><|im_end|>`, { calls: [sky] }],
    ['no closing tag', `<tool_call>\n${JSON_SKY}`, { calls: [sky], repairs: ['closing-mark'] }],
    ['half a closing tag', `<tool_call>\n${JSON_SKY}\n</tool_`, { calls: [sky], repairs: ['closing-mark'] }],
    ['no arguments', '<tool_call>{"name": "look"}</tool_call>', { calls: [none] }],
    [
      'arguments before the name',
      '<tool_call>{"arguments": {"at": "sky"}, "name": "look"}</tool_call>',
      { calls: [sky] },
    ],
    ['parameters', '<tool_call>{"name": "look", "parameters": {"at": "sky"}}</tool_call>', { calls: [sky] }],
    [
      'arguments in a text',
      '<tool_call>{"name": "look", "arguments": "{\\"at\\": \\"sky\\"}"}</tool_call>',
      { calls: [sky] },
    ],
    [
      'the shape of OpenAI',
      '<tool_call>{"type": "function", "function": {"name": "look", "arguments": {"at": "sky"}}}</tool_call>',
      { calls: [sky] },
    ],
    [
      'a trailing comma',
      '<tool_call>{"name": "look", "arguments": {"at": "sky",}}</tool_call>',
      { calls: [sky], repairs: ['trailing-comma'] },
    ],
    [
      'a dict of Python',
      "<tool_call>{'name': 'look', 'arguments': {'at': 'sky', 'deep': True}}</tool_call>",
      { calls: [['look', { at: 'sky', deep: true }]], repairs: ['python-literal', 'single-quotes'] },
    ],
    [
      'a code block inside',
      `<tool_call>\n\`\`\`json\n${JSON_SKY}\n\`\`\`\n</tool_call>`,
      { calls: [sky], repairs: ['fence'] },
    ],
    [
      'a raw line break',
      '<tool_call>{"name": "write", "arguments": {"text": "a\nb"}}</tool_call>',
      { calls: [['write', { text: 'a\nb' }]], repairs: ['raw-control'] },
    ],
    [
      'a bracket too few',
      '<tool_call>{"name": "look", "arguments": {"at": "sky"}</tool_call>',
      { calls: [sky], repairs: ['missing-bracket'] },
    ],
    [
      'a bracket too many',
      '<tool_call>{"name": "look", "arguments": {"at": "sky"}}}</tool_call>',
      { calls: [sky], repairs: ['extra-bracket'] },
    ],
    ['two brackets too few', '<tool_call>{"name": "look", "arguments": {"at": {"x": 1}</tool_call>', { unreadable: 1 }],
    ['a name without quotes', '<tool_call>{name: look}</tool_call>', { unreadable: 1 }],
    ['no name', '<tool_call>{"arguments": {"at": "sky"}}</tool_call>', { unreadable: 1 }],
    [
      'one of two that cannot be read',
      `<tool_call>${JSON_SKY}\n{"name": }</tool_call>`,
      { calls: [sky], unreadable: 1 },
    ],
    [
      'a quote that is missing',
      '<tool_call>{"name": "look, "arguments": {}}</tool_call>\nAnd?',
      { unreadable: 1, said: '\nAnd?' },
    ],
    [
      'a tag in the arguments',
      '<tool_call>{"name": "write", "arguments": {"text": "</tool_call> <tool_call>{}"}}</tool_call>',
      { calls: [['write', { text: '</tool_call> <tool_call>{}' }]] },
    ],
    [
      'code in the arguments',
      '<tool_call>{"name": "write", "arguments": {"text": "```\\n`x`\\n```"}}</tool_call>',
      { calls: [['write', { text: '```\n`x`\n```' }]] },
    ],
    ['the tag in words', 'The <tool_call> tag begins a call.', { said: 'The <tool_call> tag begins a call.' }],
    [
      'both tags in words',
      'Write <tool_call> and </tool_call> around it.',
      { said: 'Write <tool_call> and </tool_call> around it.' },
    ],
    ['the tag at the end', 'It begins with <tool_call>', { said: 'It begins with <tool_call>' }],
    [
      'a placeholder',
      'Write <tool_call>{...}</tool_call> for it.',
      { said: 'Write <tool_call>{...}</tool_call> for it.' },
    ],
    [
      'a tag in a text of JSON',
      '{"example": "<tool_call>{\\"name\\": \\"remove\\"}</tool_call>"}',
      { said: '{"example": "<tool_call>{\\"name\\": \\"remove\\"}</tool_call>"}' },
    ],
    [
      'a tag that looks like it',
      `＜tool_call＞${JSON_SKY}＜/tool_call＞`,
      { said: `＜tool_call＞${JSON_SKY}＜/tool_call＞` },
    ],
    [
      'a tag with a letter of Cyrillic',
      `<tооl_call>${JSON_SKY}</tооl_call>`,
      { said: `<tооl_call>${JSON_SKY}</tооl_call>` },
    ],
    [
      'a tag with a joiner',
      `<tool\u200d_call>${JSON_SKY}</tool_call>`,
      { said: `<tool\u200d_call>${JSON_SKY}</tool_call>` },
    ],
    ['capital letters', `<TOOL_CALL>${JSON_SKY}</TOOL_CALL>`, { said: `<TOOL_CALL>${JSON_SKY}</TOOL_CALL>` }],
    ['half a tag', 'a <tool_call', { said: 'a <tool_call' }],
    ['a tag of a tag', `<<tool_call>${JSON_SKY}</tool_call>`, { said: '<', calls: [sky] }],
    ['a tag twice', `<tool_call><tool_call>${JSON_SKY}</tool_call>`, { said: '<tool_call>', calls: [sky] }],
    [
      'a thought without its beginning',
      `I could <tool_call>{"name": "remove"}</tool_call>, no.\n</think>\n\n<tool_call>${JSON_SKY}</tool_call>`,
      { calls: [sky], said: 'I could, no.\n</think>' },
    ],
    [
      'the text of harmony',
      `<|channel|>commentary to=functions.remove<|message|>{}<|call|>`,
      { said: '<|channel|>commentary to=functions.remove<|message|>{}<|call|>' },
    ],
    ['cut in the name', '<tool_call>{"name": "lo', { cut: 1 }, 'max-tokens'],
    ['cut in the arguments', '<tool_call>{"name": "look", "arguments": {"at": "s', { cut: 1 }, 'max-tokens'],
    ['cut behind the arguments', '<tool_call>{"name": "look", "arguments": {"at": "sky"}', { cut: 1 }, 'max-tokens'],
    ['cut though the server says that it ended', '<tool_call>{"name": "remove", "arguments": {"path": "/', { cut: 1 }],
    ['cut behind the tag', 'So: <tool_call>', { said: 'So:', cut: 1 }, 'max-tokens'],
    ['cut in the tag', 'So: <tool_c', { said: 'So: ' }, 'max-tokens'],
    [
      'a trailing comma in an answer that was cut',
      '<tool_call>{"name": "look", "arguments": {"at": "sky",}}</tool_call> and',
      { said: ' and', unreadable: 1 },
      'max-tokens',
    ],
    [
      'a backtick, a call and another backtick',
      `a \` b ${JSON_SKY} <tool_call>${JSON_SKY}</tool_call> c \` d`,
      { said: `a \` b ${JSON_SKY} <tool_call>${JSON_SKY}</tool_call> c \` d` },
    ],
    [
      'a backtick that the next paragraph does not close',
      `a \` b <tool_call>${JSON_SKY}</tool_call>\n\nc \` d`,
      { calls: [sky], said: 'a ` b\n\nc ` d' },
    ],
    [
      'runs of several lengths',
      `a \` b \`\` c <tool_call>${JSON_SKY}</tool_call> d \`\` e`,
      { said: `a \` b \`\` c <tool_call>${JSON_SKY}</tool_call> d \`\` e` },
    ],
    [
      'a backtick in the call alone',
      'a ` b\n<tool_call>{"name": "write", "arguments": {"text": "x"}}</tool_call>',
      { calls: [['write', { text: 'x' }]], said: 'a ` b' },
    ],
    ['an escaped backtick', `a \\\` b <tool_call>${JSON_SKY}</tool_call> \\\``, { calls: [sky], said: 'a \\` b \\`' }],
    [
      'three backticks in a line',
      `\`\`\`x\`\`\` <tool_call>${JSON_SKY}</tool_call>`,
      { calls: [sky], said: '```x```' },
    ],
    [
      'a code block whose end has words',
      `\`\`\`\n\`\`\` no end <tool_call>${JSON_SKY}</tool_call>`,
      { said: `\`\`\`\n\`\`\` no end <tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'a code block that is indented inside of another',
      `\`\`\`\n    \`\`\`\n<tool_call>${JSON_SKY}</tool_call>`,
      { said: `\`\`\`\n    \`\`\`\n<tool_call>${JSON_SKY}</tool_call>` },
    ],
    ['a call of a list item', `- First:\n  <tool_call>${JSON_SKY}</tool_call>`, { calls: [sky], said: '- First:' }],
    [
      'a code block that begins in a list item',
      `- \`\`\`\n  <tool_call>${JSON_SKY}</tool_call>\n  \`\`\``,
      { said: `- \`\`\`\n  <tool_call>${JSON_SKY}</tool_call>\n  \`\`\`` },
    ],
    ['an indented line of a paragraph', `So\n    <tool_call>${JSON_SKY}</tool_call>`, { calls: [sky], said: 'So' }],
    [
      'three backticks in a code block of four',
      `\`\`\`\`\n\`\`\`\n<tool_call>${JSON_SKY}</tool_call>`,
      { said: `\`\`\`\`\n\`\`\`\n<tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'tildes in a code block of backticks',
      `\`\`\`\n~~~\n<tool_call>${JSON_SKY}</tool_call>`,
      { said: `\`\`\`\n~~~\n<tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'backticks with words in a code block',
      `\`\`\`\n\`\`\` x\n<tool_call>${JSON_SKY}</tool_call>`,
      { said: `\`\`\`\n\`\`\` x\n<tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'the tag of a thought in words',
      `A <think> tag.\n<tool_call>${JSON_SKY}</tool_call>`,
      { calls: [sky], said: 'A <think> tag.' },
    ],
    [
      'indented behind an empty item',
      `*\n\n    <tool_call>${JSON_SKY}</tool_call>`,
      { said: `*\n\n    <tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'far in an item',
      `10)\n        <tool_call>${JSON_SKY}</tool_call>`,
      { said: `10)\n        <tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'five columns behind the mark of an item',
      `*     <tool_call>${JSON_SKY}</tool_call>`,
      { said: `*     <tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'indented behind a rule',
      `* ***\n    <tool_call>${JSON_SKY}</tool_call>`,
      { said: `* ***\n    <tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'indented behind a heading',
      `# So\n\t<tool_call>${JSON_SKY}</tool_call>`,
      { said: `# So\n\t<tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'indented behind a line under a heading',
      `So\n---\n    <tool_call>${JSON_SKY}</tool_call>`,
      { said: `So\n---\n    <tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'the next line of a quote',
      `> You said\n<tool_call>${JSON_SKY}</tool_call>`,
      { said: `> You said\n<tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'a backtick behind a backslash closes',
      `a \` b <tool_call>${JSON_SKY}</tool_call> \\\` c`,
      { said: `a \` b <tool_call>${JSON_SKY}</tool_call> \\\` c` },
    ],
    [
      'a code block that begins left of its item',
      `+ \`\`\`\n\`\`\`\n<tool_call>${JSON_SKY}</tool_call>`,
      { said: `+ \`\`\`\n\`\`\`\n<tool_call>${JSON_SKY}</tool_call>` },
    ],
    [
      'a number in a paragraph is no list',
      `a\n2. \` b <tool_call>${JSON_SKY}</tool_call> \` c`,
      { said: `a\n2. \` b <tool_call>${JSON_SKY}</tool_call> \` c` },
    ],
    [
      'a backtick of a heading',
      `# a \` b\nc <tool_call>${JSON_SKY}</tool_call> d \` e`,
      { calls: [sky], said: '# a ` b\nc d ` e' },
    ],
    [
      'a backtick of an item',
      `- a \` b\n- c <tool_call>${JSON_SKY}</tool_call> d \` e`,
      { calls: [sky], said: '- a ` b\n- c d ` e' },
    ],
    ['the name of a tool between tags', 'So: <tool_call>look</tool_call>', { said: 'So: <tool_call>look</tool_call>' }],
    [
      'the tags of GLM',
      '<tool_call>look\n<arg_key>at</arg_key>\n<arg_value>sky</arg_value>\n</tool_call>',
      { calls: [sky] },
    ],
    ['nothing', '', { said: '' }],
    ['blanks', ' \n\t ', { said: ' \n\t ' }],
    [
      'a tag of Qwen3-Coder',
      '<tool_call>\n<function=look>\n<parameter=at>\nsky\n</parameter>\n</function>\n</tool_call>',
      { calls: [sky] },
    ],
    [
      'a pair of surrogates',
      `😀<tool_call>{"name": "look", "arguments": {"at": "😀"}}</tool_call>😀`,
      { calls: [['look', { at: '😀' }]], said: '😀😀' },
    ],
  ],
  'qwen-coder': [
    [
      'a call',
      '<tool_call>\n<function=look>\n<parameter=at>\nsky\n</parameter>\n</function>\n</tool_call>',
      { calls: [sky] },
    ],
    [
      'values by the schema',
      '<tool_call>\n<function=look>\n<parameter=at>\n42\n</parameter>\n<parameter=times>\n2\n</parameter>\n<parameter=deep>\nTrue\n</parameter>\n<parameter=tags>\n["a"]\n</parameter>\n</function>\n</tool_call>',
      { calls: [['look', { at: '42', times: 2, deep: true, tags: ['a'] }]], repairs: ['python-literal'] },
    ],
    [
      'an object over lines',
      '<tool_call>\n<function=look>\n<parameter=where>\n{"x": 10,\n "y": 20}\n</parameter>\n</function>\n</tool_call>',
      { calls: [['look', { where: { x: 10, y: 20 } }]] },
    ],
    [
      'without the outer tag',
      'Go.\n<function=look>\n<parameter=at>\nsky\n</parameter>\n</function>',
      { calls: [sky], said: 'Go.' },
    ],
    [
      'without the outer tag at the beginning',
      '<function=look>\n<parameter=at>\nsky\n</parameter>\n</function>\n</tool_call>',
      { calls: [sky] },
    ],
    [
      'line breaks in a value',
      '<tool_call>\n<function=write>\n<parameter=text>\n\n  a\n\n</parameter>\n</function>\n</tool_call>',
      { calls: [['write', { text: '\n  a\n' }]] },
    ],
    [
      'a closing tag in a value',
      '<tool_call>\n<function=write>\n<parameter=text>\na </parameter> b </tool_call> c\n</parameter>\n</function>\n</tool_call>',
      { calls: [['write', { text: 'a </parameter> b </tool_call> c' }]] },
    ],
    ['no arguments', '<tool_call>\n<function=look>\n</function>\n</tool_call>', { calls: [none] }],
    [
      'without its closing tag',
      '<tool_call>\n<function=look>\n<parameter=at>\nsky\n</parameter>\n</tool_call>',
      { calls: [sky], repairs: ['closing-mark'] },
    ],
    [
      'words between the arguments',
      '<tool_call>\n<function=look>\nat: sky\n</function>\n</tool_call>',
      { unreadable: 1 },
    ],
    ['cut in a value', '<tool_call>\n<function=write>\n<parameter=text>\na', { cut: 1 }],
    [
      'cut behind a value',
      '<tool_call>\n<function=write>\n<parameter=text>\na\n</parameter>\n',
      { cut: 1 },
      'max-tokens',
    ],
    ['the tag in words', 'The <function=name> tag.', { said: 'The <function=name> tag.', unreadable: 0 }],
  ],
  glm: [
    ['a call', '<tool_call>look\n<arg_key>at</arg_key>\n<arg_value>sky</arg_value>\n</tool_call>', { calls: [sky] }],
    [
      'on one line',
      'Hm.<tool_call>look<arg_key>at</arg_key><arg_value>sky</arg_value></tool_call>',
      { calls: [sky], said: 'Hm.' },
    ],
    ['no arguments', '<tool_call>look\n</tool_call>', { calls: [none] }],
    [
      'values by the schema',
      '<tool_call>look\n<arg_key>times</arg_key>\n<arg_value>3</arg_value>\n<arg_key>tags</arg_key>\n<arg_value>["x"]</arg_value>\n</tool_call>',
      { calls: [['look', { times: 3, tags: ['x'] }]] },
    ],
    [
      'a tool that there is not',
      '<tool_call>find\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>',
      { calls: [['find', { a: 1 }]] },
    ],
    [
      'a broken key',
      '<tool_call>look\n<arg_key>at</arg_key>\n<arg_value>sky</arg_value>\n<arg_key>x\n<arg_value>y</arg_value>\n</tool_call>',
      { unreadable: 1 },
    ],
    ['cut behind a value', '<tool_call>look\n<arg_key>at</arg_key>\n<arg_value>sky</arg_value>', { cut: 1 }],
    ['the tag in words', 'A <tool_call> looks so.', { said: 'A <tool_call> looks so.' }],
    [
      'closing tags in a value',
      '<tool_call>write\n<arg_key>text</arg_key>\n<arg_value></tool_call></arg_value>\n</tool_call>',
      { calls: [['write', { text: '</tool_call>' }]] },
    ],
  ],
  deepseek: [
    [
      'a call',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{"at": "sky"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      { calls: [sky] },
    ],
    [
      'two calls',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{"at": "sky"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{"at": "sea"}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
      { calls: [sky, sea] },
    ],
    [
      'the form of V3',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n```json\n{"at": "sky"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      { calls: [sky] },
    ],
    [
      'without its section',
      '<｜tool▁call▁begin｜>look<｜tool▁sep｜>{"at": "sky"}<｜tool▁call▁end｜>',
      { calls: [sky] },
    ],
    [
      'the tags of V3.2',
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look">\n<｜DSML｜parameter name="at" string="true">sky</｜DSML｜parameter>\n<｜DSML｜parameter name="times" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
      { calls: [['look', { at: 'sky', times: 2 }]] },
    ],
    ['the marks of others', '<|tool_calls_begin|>look', { said: '<|tool_calls_begin|>look' }],
    ['cut in the arguments', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>remove<｜tool▁sep｜>{"path": "/', { cut: 1 }],
    [
      'cut in the second call',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{"at": "sky"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>rem',
      { calls: [sky], cut: 1 },
      'max-tokens',
    ],
  ],
  harmony: [
    [
      'a call',
      '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"at": "sky"}<|call|>',
      { calls: [sky] },
    ],
    [
      'a thought, then a call',
      '<|channel|>analysis<|message|>Look up.<|end|><|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"at": "sky"}<|call|>',
      { calls: [sky], said: '' },
    ],
    [
      'the name in the role',
      '<|start|>assistant to=functions.look<|channel|>commentary json<|message|>{"at": "sky"}<|call|>',
      { calls: [sky] },
    ],
    [
      'a thought, then an answer',
      '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Blue.<|return|>',
      { said: 'Blue.' },
    ],
    [
      'a thought that does not end',
      '<|channel|>analysis<|message|>Hm.<|start|>assistant<|channel|>final<|message|>Blue.',
      { said: 'Blue.' },
    ],
    [
      'a preamble',
      '<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.look<|message|>{}<|call|>',
      { calls: [none], said: 'I look.' },
    ],
    [
      'a call in a thought',
      '<|channel|>analysis<|message|>I could write <|channel|>commentary to=functions.remove<|message|>{"path": "/"}<|call|><|start|>assistant<|channel|>final<|message|>No.<|return|>',
      { said: 'No.' },
    ],
    ['without its end', '<|channel|>commentary to=functions.look<|message|>{"at": "sky"}', { calls: [sky] }],
    ['cut in the arguments', '<|channel|>commentary to=functions.remove<|message|>{"path": "/', { cut: 1 }],
    ['cut in the head', 'Hm. <|channel|>comm', { said: 'Hm. ' }, 'max-tokens'],
    ['plain words', 'Just words.', { said: 'Just words.' }],
    ['no head', 'The <|channel|> token.\nSo.', { said: 'The <|channel|> token.\nSo.' }],
  ],
  kimi: [
    [
      'a call',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"at": "sky"}<|tool_call_end|><|tool_calls_section_end|>',
      { calls: [sky] },
    ],
    [
      'blanks everywhere',
      'Ok. <|tool_calls_section_begin|> <|tool_call_begin|>\nfunctions.look:0 <|tool_call_argument_begin|> {"at": "sky"} <|tool_call_end|> <|tool_call_begin|>functions.look:1<|tool_call_argument_begin|>{}<|tool_call_end|> <|tool_calls_section_end|>',
      { calls: [sky, none], said: 'Ok.' },
    ],
    [
      'the other spelling',
      '<|tool_call_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_section_end|>',
      { calls: [none] },
    ],
    [
      'a name with dots',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.agent.spawn:3<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
      { calls: [['agent.spawn', {}]] },
    ],
    [
      'marks in the arguments',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>{"text": "<|tool_call_end|><|tool_calls_section_end|>"}<|tool_call_end|><|tool_calls_section_end|>',
      { calls: [['write', { text: '<|tool_call_end|><|tool_calls_section_end|>' }]] },
    ],
    [
      'two brackets too few',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"where": {"x": {"y": 1}<|tool_call_end|><|tool_call_begin|>functions.look:1<|tool_call_argument_begin|>{"at": "sea"}<|tool_call_end|><|tool_calls_section_end|>',
      { calls: [sea], unreadable: 1 },
    ],
    [
      'quotes and marks in the arguments',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>{"text": "\\"<|tool_call_end|>"}<|tool_call_end|><|tool_calls_section_end|>',
      { calls: [['write', { text: '"<|tool_call_end|>' }]] },
    ],
    ['cut in the name', '<|tool_calls_section_begin|><|tool_call_begin|>functions.loo', { cut: 1 }, 'max-tokens'],
  ],
  granite: [
    ['a call', `<|tool_call|>[${JSON_SKY}]`, { calls: [sky] }],
    ['two calls', `<|tool_call|> [${JSON_SKY}, ${JSON_SEA}]<|end_of_text|>`, { calls: [sky, sea] }],
    ['the tag of 3.1', `<tool_call>[${JSON_SKY}]`, { calls: [sky] }],
    [
      'brackets in a text',
      '<|tool_call|>[{"name": "write", "arguments": {"text": "]] }"}}] Ok.',
      { calls: [['write', { text: ']] }' }]], said: ' Ok.' },
    ],
    ['cut behind the first of a list', `<|tool_call|>[${JSON_SKY}`, { cut: 1 }],
    ['cut in the second of a list', `<|tool_call|>[${JSON_SKY}, {"name": "rem`, { calls: [sky], cut: 1 }],
    ['cut', '<|tool_call|>[{"name": "remove", "arguments": {', { cut: 1 }],
    ['the token in words', 'A <|tool_call|> token.', { said: 'A <|tool_call|> token.' }],
  ],
  minimax: [
    [
      'a call',
      '<minimax:tool_call>\n<invoke name="look">\n<parameter name="at">sky</parameter>\n</invoke>\n</minimax:tool_call>',
      { calls: [sky] },
    ],
    [
      'two calls and attributes',
      '<minimax:tool_call><invoke name="look" x="1"><parameter name="at" type="string">sky</parameter></invoke><invoke name="look"></invoke></minimax:tool_call>',
      { calls: [sky, none] },
    ],
    [
      'brackets in a value',
      '<minimax:tool_call><invoke name="write"><parameter name="text">(e.g. <b> & </minimax:tool_call>)</parameter></invoke></minimax:tool_call>',
      { calls: [['write', { text: '(e.g. <b> & </minimax:tool_call>)' }]] },
    ],
    ['the lines of M1', `<tool_calls>\n${JSON_SKY}\n${JSON_SEA}\n</tool_calls>`, { calls: [sky, sea] }],
    [
      'a wrong line of M1',
      `<tool_calls>\n${JSON_SKY}\n{invalid json here}\n${JSON_SEA}\n</tool_calls>`,
      { calls: [sky, sea], unreadable: 1 },
    ],
    [
      'a thought of M1',
      `<think>Hm. <tool_calls>\n{"name": "remove"}\n</tool_calls></think>\nOk. <tool_calls>\n${JSON_SKY}\n</tool_calls>`,
      { calls: [sky], said: '<think>Hm. <tool_calls>\n{"name": "remove"}\n</tool_calls></think>\nOk.' },
    ],
    [
      'cut',
      '<minimax:tool_call><invoke name="look"><parameter name="at">sky</parameter></invoke>',
      { calls: [sky], repairs: ['closing-mark'] },
    ],
    ['cut in a value', '<minimax:tool_call><invoke name="remove"><parameter name="path">/', { cut: 1 }],
  ],
  gemma: [
    ['a call', '```tool_code\nlook(at="sky")\n```', { calls: [sky] }],
    ['a call that is printed', 'Ok.\n```tool_code\nprint(look(at="sky"))\n```', { calls: [sky], said: 'Ok.' }],
    ['two lines', '```tool_code\nlook(at="sky")\nlook(at=\'sea\')\n```\nSee.', { calls: [sky, sea], said: '\nSee.' }],
    [
      'a text of several lines',
      '```tool_code\nwrite(text="""a\n```\n"b" \'c\'""")\n```',
      { calls: [['write', { text: 'a\n```\n"b" \'c\'' }]] },
    ],
    ['a comment', '```tool_code\n# first\nlook(at="sky") # it\n```', { calls: [sky] }],
    ['a program', '```tool_code\nimport os\nremove(path=os.getcwd())\n```', { unreadable: 1 }],
    ['an argument without a name', '```tool_code\nlook("sky")\n```', { unreadable: 1 }],
    ['another code block', '```python\nlook(at="sky")\n```', { said: '```python\nlook(at="sky")\n```' }],
    [
      'in the middle of a line',
      'Use ```tool_code\nremove(path="/")\n```',
      { said: 'Use ```tool_code\nremove(path="/")\n```' },
    ],
    [
      'in a list item',
      '- ```tool_code\n  remove(path="/")\n  ```',
      { said: '- ```tool_code\n  remove(path="/")\n  ```' },
    ],
    ['another kind', '```tool_coder\nremove(path="/")\n```', { said: '```tool_coder\nremove(path="/")\n```' }],
    [
      'words behind the kind',
      '```tool_code example\nremove(path="/")\n```',
      { said: '```tool_code example\nremove(path="/")\n```' },
    ],
    ['cut', '```tool_code\nremove(path="/', { cut: 1 }, 'max-tokens'],
  ],
  mistral: [
    ['a list', `[TOOL_CALLS] [${JSON_SKY}]`, { calls: [sky] }],
    ['a list of two with blanks', `[TOOL_CALLS]  [ ${JSON_SKY} , ${JSON_SEA} ]`, { calls: [sky, sea] }],
    ['the form of v11', 'Ok.[TOOL_CALLS]look[ARGS]{"at": "sky"}', { calls: [sky], said: 'Ok.' }],
    ['without [ARGS]', '[TOOL_CALLS]look{"at": "sky"}', { calls: [sky] }],
    ['with an id', '[TOOL_CALLS]look[CALL_ID]abc123def[ARGS]{"at": "sky"}', { calls: [sky] }],
    ['two of v11', '[TOOL_CALLS]look[ARGS]{"at": "sky"}[TOOL_CALLS]look[ARGS]{"at": "sea"}</s>', { calls: [sky, sea] }],
    [
      'a list in the arguments',
      '[TOOL_CALLS]look[ARGS]{"tags": ["]", "}"]}',
      { calls: [['look', { tags: [']', '}'] }]] },
    ],
    ['the token in words', 'The [TOOL_CALLS] token begins calls.', { said: 'The [TOOL_CALLS] token begins calls.' }],
    [
      'words behind a list',
      `[TOOL_CALLS] [${JSON_SKY}]\n\nToday it is blue.`,
      { calls: [sky], said: '\n\nToday it is blue.' },
    ],
    ['a bracket too few', '[TOOL_CALLS]remove[ARGS]{"path": "/"', { cut: 1 }],
    ['cut behind the name', '[TOOL_CALLS]remove[ARGS]', { cut: 1 }],
    [
      'a thought',
      '[THINK]No [TOOL_CALLS]remove[ARGS]{}[/THINK]No.',
      { said: '[THINK]No [TOOL_CALLS]remove[ARGS]{}[/THINK]No.' },
    ],
  ],
  llama: [
    ['a call', '{"name": "look", "parameters": {"at": "sky"}}', { calls: [sky] }],
    [
      'two with a semicolon',
      '{"name": "look", "parameters": {"at": "sky"}}; {"name": "look", "parameters": {"at": "sea"}}',
      { calls: [sky, sea] },
    ],
    ['behind the tag', '<|python_tag|>{"name": "look", "parameters": {"at": "sky"}}<|eom_id|>', { calls: [sky] }],
    ['data', '{"name": "Alice", "age": 3}', { said: '{"name": "Alice", "age": 3}' }],
    ['data with other fields first', '{"a": {"name": "remove"}}', { said: '{"a": {"name": "remove"}}' }],
    [
      'words behind',
      '{"name": "remove", "parameters": {}} is what I could write.',
      { said: '{"name": "remove", "parameters": {}} is what I could write.' },
    ],
    ['words before', 'So: {"name": "remove", "parameters": {}}', { said: 'So: {"name": "remove", "parameters": {}}' }],
    [
      'cut',
      '{"name": "remove", "parameters": {"path": "/',
      { said: '{"name": "remove", "parameters": {"path": "/' },
      'max-tokens',
    ],
  ],
  brackets: [
    ['a call', '[look(at="sky")]', { calls: [sky] }],
    ['two calls', "[look(at='sky'), look(at='sea')]", { calls: [sky, sea] }],
    [
      'literals',
      '[look(deep=True, where={"a": None}, tags=["x"], times=-1)]',
      { calls: [['look', { deep: true, where: { a: null }, tags: ['x'], times: -1 }]] },
    ],
    ['tokens around', 'Ok.<|tool_call_start|>[look(at="sky")]<|tool_call_end|>', { calls: [sky], said: 'Ok.' }],
    [
      'a link',
      '[Wikipedia](https://www.wikipedia.org) says so.',
      { said: '[Wikipedia](https://www.wikipedia.org) says so.' },
    ],
    ['numbers', '[1, 2, 3]', { said: '[1, 2, 3]' }],
    ['a box', '[x] done', { said: '[x] done' }],
    ['a program', '<|tool_call_start|>[remove(path=open("x").read())]<|tool_call_end|>', { unreadable: 1 }],
    ['words behind', '[remove(path="/")] would do it.', { said: '[remove(path="/")] would do it.' }],
    ['cut', '<|tool_call_start|>[remove(path="/', { cut: 1 }],
  ],
  'json-fence': [
    ['a call', `\`\`\`tool_call\n${JSON_SKY}\n\`\`\``, { calls: [sky] }],
    ['a block of JSON', `\`\`\`json\n${JSON_SKY}\n\`\`\``, { calls: [sky] }],
    [
      'a block of data',
      'See:\n```json\n{"name": "Bob", "age": 3}\n```\nOk.',
      { said: 'See:\n```json\n{"name": "Bob", "age": 3}\n```\nOk.' },
    ],
    ['a block of other data', '```json\n{"a": 1}\n```', { said: '```json\n{"a": 1}\n```' }],
    ['an empty block', '```json\n```', { said: '```json\n```' }],
    ['data that does not end', '```json\n{"name": "Bob', { said: '```json\n{"name": "Bob' }],
    [
      'a call behind data',
      `\`\`\`json\n{"name": "Bob"}\n\`\`\`\n\n\`\`\`tool_call\n${JSON_SKY}\n\`\`\``,
      { calls: [sky], said: '```json\n{"name": "Bob"}\n```' },
    ],
    ['a list of data', '```json\n[1, 2]\n```', { said: '```json\n[1, 2]\n```' }],
    ['cut', '```tool_call\n{"name": "remove", "arg', { cut: 1 }],
  ],
}

const COUNTS = { texts: 0, ways: 0 }

describe.each(Object.entries(ROWS))('%s', (format, rows) => {
  test.each(rows.map((row) => [row[0], row] as const))('%s', async (_, [, text, meaning, finish]) => {
    const { ways, ...read } = await readAllCuts(format as PromptedFormatName, text, finish) // a key of the rows
    COUNTS.texts += 1
    COUNTS.ways += ways
    const nothing: Meaning = { calls: [], said: '', unreadable: 0, cut: 0, repairs: [] }
    expect(read).toEqual({ ...nothing, ...meaning })
  })
})

afterAll(() => console.log(`texts of models: ${COUNTS.texts} texts, read in ${COUNTS.ways} ways`))
