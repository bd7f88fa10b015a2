// Renders the conversations below with the templates of this folder by @huggingface/jinja, at one moment: node render.mjs, or
// node render.mjs - to see them.
import {readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {Template} from '@huggingface/jinja'

const Clock = Date
globalThis.Date = class extends Clock {
  constructor(...args) { super(...(args.length ? args : [2026, 10, 5, 13, 7])) }
}

const user = content => ({role: 'user', content})
const assistant = content => ({role: 'assistant', content})
const system = content => ({role: 'system', content})
const part = text => ({type: 'text', text})
const tools = [{type: 'function', function: {
  name: 'get_weather', description: 'Weather of a "city" <now> & tomorrow',
  parameters: {type: 'object', required: ['city'], properties: {
    city: {type: 'string', description: 'Zürich, 東京'}, days: {type: 'integer', minimum: 1}, unit: {enum: ['c', 'f'], of: []}}}}}]
const call = {role: 'assistant', content: '', tool_calls: [
  {id: 'abcdefghi', type: 'function', function: {name: 'get_weather', arguments: {city: 'Zürich', days: 2}}}]}
const result = {role: 'tool', tool_call_id: 'abcdefghi', name: 'get_weather', content: '{"temp": 3}'}

const conversations = {
  one: {messages: [user('Hello')]},
  system: {messages: [system('You are terse.'), user('Hi'), assistant('Hello.'), user('Bye')]},
  'no prompt': {messages: [user('Hi'), assistant('Hello.'), user('Bye'), assistant('Good bye')], add_generation_prompt: false},
  'thinking off': {messages: [user('2+2?')], enable_thinking: false},
  'thinking off in history': {messages: [user('2+2?'), assistant('4'), user('3+3?')], enable_thinking: false},
  thoughts: {messages: [user('2+2?'), assistant('<think>\nadd\n</think>\n\n4'), user('3+3?'),
    assistant('<think>\nadd more\n</think>\n\n6')], add_generation_prompt: false},
  unicode: {messages: [system('Ünïcödé 日本語'), user('👩‍👩‍👧 e\u0301 \u2028 \u00a0x'), assistant('नमस्ते İ'),
    user('\ufeff  spaces \t\n around \n')]},
  markup: {messages: [user(`<|im_end|> {{ 1+1 }} {% if %} 'q' "d" \\n <b>&amp;</b>`)]},
  empty: {messages: [user(''), assistant(''), user('')]},
  tools: {messages: [system('Use tools.'), user('Weather?')], tools},
  'tools without a system': {messages: [user('Weather?')], tools},
  'a call': {messages: [user('Weather?'), call, result, assistant('3 degrees'), user('Thanks')], tools},
  'calls at the end': {messages: [user('Weather?'), call, result, result], tools},
  'an odd role': {messages: [{role: 'critic', content: 'Hm'}, user('Hi')]},
  'two users': {messages: [user('Hi'), user('again')]},
  'the assistant first': {messages: [assistant('I begin'), user('Hi')]},
  'a late system': {messages: [user('Hi'), assistant('Hello'), system('Now be terse'), user('Bye')]},
  parts: {messages: [system([part('Be terse.')]), user([part('part one'), part(' part two')])]},
  none: {messages: []},
}
const renderings = {}
for (const name of readdirSync('.').filter(name => name.endsWith('.jinja')).sort()) {
  const source = readFileSync(name, 'utf8'), template = new Template(source)
  renderings[name] = {}
  for (const [title, conversation] of Object.entries(conversations)) {
    if (title === 'parts' && !source.includes('part in')) continue // it would get "[object Object]"
    const variables = {add_generation_prompt: true, bos_token: '<s>', eos_token: '</s>', tools: null, ...conversation}
    try {
      renderings[name][title] = template.render(variables)
    } catch (error) {
      renderings[name][title] = {error: error.message}
    }
  }
}

// Small templates with the variables below.
const variables = {s: ' a,b,,c ', t: 'Grüße 日本', n: 7, x: 2.5, whole: [1, 2, 3, 4, 5], names: ['b', 'A', 'b', 'c'], nothing: null,
  people: [{name: 'Ann', age: 3, tags: ['x']}, {name: 'bob', age: 1}], d: {b: 1, a: 'é"\n\u2028', c: [true, null, 1.5, {}, []]}}
const small = [
  '', 'text\n', 'a {{- 1 }} b {{ 2 -}}\n c', '  {% if true %}\n  x\n  {% endif %}\n y', '{# a #}\n{#- b -#}  z', 'a\n\n{%- if n %}b{% endif -%}  \n c',
  '{{ "a" "b" }}{{ \'\\n\\t\\\\\\\'\\x41\\u00e9\' }}', '{{ 1 + 2 * 3 - 4 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 / 2 }} {{ 2 ** 3 ** 2 }} {{ 7 % 4 }}',
  '{{ 4 / 2 }} {{ x * 2 }} {{ x + 1 }} {{ -x }} {{ - n }} {{ +n }} {{ -1|abs }}', '{{ "a" + 1 }}{{ 1 ~ "b" ~ 2.5 ~ true }}',
  '{{ 1 < 2 }} {{ 2 <= 1 }} {{ 1 == 1.0 }} {{ "a" != "b" }} {{ n > x }} {{ not n == 7 }}', '{{ none == missing }} {{ nothing is none }} {{ missing is none }}',
  '{{ 0 or "x" }} {{ 1 and "y" }} {{ [] or {} or none or "z" }}', '{{ "a" if n else "b" }}{{ "a" if missing }}{{ 1 if 0 else 2 if 0 else 3 }}',
  '{{ 2 in whole }} {{ 9 not in whole }} {{ "b" in s }} {{ "b" in d }} {{ "z" not in d }} {{ 1 in missing }}',
  '{{ whole[0] }}{{ whole[-1] }}{{ whole[9] }}{{ whole[1:3] }}{{ whole[::-1] }}{{ whole[:-1] }}{{ whole[-2:] }}{{ whole[::2] }}{{ whole[9:] }}',
  '{{ t[0] }}{{ t[-1] }}{{ t[1:3] }}{{ t[::-1] }}{{ whole[4:1:-2] }}{{ whole[:0:-1] }}', '{{ d.b }}{{ d["a"] }}{{ d.missing }}{{ d.missing.more }}{{ people[1].name }}{{ people.0.name }}',
  '{{ none }}|{{ true }}|{{ missing }}|{{ 1.0 }}|{{ whole }}|{{ d }}|{{ 100000000000 }}|{{ 0.1 + 0.2 }}', '{{ (1, 2)|join }}{{ [1, "a", none] }}{{ {"k": [1]} }}',
  '{{ d|tojson }}|{{ d|tojson(indent=2) }}|{{ d|tojson(indent=4, sort_keys=true) }}|{{ t|tojson(ensure_ascii=true) }}', '{{ d|tojson(separators=(",", ":")) }}{{ "\\x01\\x7f</a>"|tojson }}',
  '{{ s.strip() }}|{{ s|trim }}|{{ s.lstrip() }}|{{ s.rstrip() }}|{{ s.split(",") }}|{{ " a  b c ".split() }}|{{ "a-b-c".split("-", 1) }}|{{ " a b c".split(none, 1) }}',
  '{{ t.upper() }}{{ t|lower }}{{ "a bc"|title }}{{ "abC"|capitalize }}{{ t|length }}{{ t.length }}{{ whole.length }}', '{{ s.startswith(" a") }}{{ s.endswith(("x", "c ")) }}{{ s.replace(",", "-") }}{{ s|replace(",", "-", 1) }}',
  '{{ names|join }}|{{ names|join(", ") }}|{{ names|sort|join }}|{{ names|sort(reverse=true)|join }}|{{ names|sort(case_sensitive=true)|join }}|{{ names|unique|join }}',
  '{{ names|first }}{{ names|last }}{{ names|reverse|join }}{{ names|list|length }}{{ d|length }}', '{{ people|map(attribute="name")|join("+") }}|{{ people|map(attribute="tags", default=[])|list }}',
  '{{ people|selectattr("tags")|list|length }}|{{ people|selectattr("name", "equalto", "Ann")|map(attribute="name")|join }}|{{ people|rejectattr("name", "eq", "bob")|list|length }}|{{ people|sort(attribute="age")|map(attribute="name")|join }}',
  '{{ missing|default("d") }}{{ ""|default("e") }}{{ ""|default("f", true) }}{{ nothing|default("g") }}', '{{ "3"|int + 1 }}{{ "x"|int }}{{ "x"|int(5) }}{{ 3.9|int }}{{ "2.5"|float }}{{ true|int }}{{ 3|float }}{{ 5|string + "!" }}',
  '{{ "a\nb\n\nc"|indent }}|{{ "a\nb"|indent(2) }}|{{ "a\nb"|indent(1, true) }}', '{% for k, v in d|items %}{{ k }}={{ v|string }};{% endfor %}{% for k, v in d.items() %}{{ k }}{% endfor %}{% for k in d %}{{ k }}{% endfor %}{% for k, v in d|dictsort %}{{ k }}{% endfor %}',
  '{{ d.get("b") }}{{ d.get("q") }}{{ d.get("q", 5) }}{{ d.keys()|join }}{{ d.values()|first }}', '{{ n is defined }}{{ q is defined }}{{ q is undefined }}{{ n is not defined }}{{ n is odd }}{{ n is even }}{{ n is number }}{{ n is integer }}{{ "s" is number }}',
  '{{ s is string }}{{ d is mapping }}{{ whole is iterable }}{{ d is iterable }}{{ whole is sequence }}{{ true is boolean }}{{ true is true }}{{ 1 is true }}{{ false is false }}{{ "A" is upper }}{{ "a" is lower }}{{ range is callable }}',
  '{% for i in whole %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}',
  '{% for i in whole if i is odd %}{{ i }}{{ loop.last }}{% endfor %}{% for i in [] %}a{% else %}none{% endfor %}{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(5, 0, -2) %}{{ i }}{% endfor %}',
  '{% for i in whole %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}', '{% for a, b in [[1, 2], [3, 4]] %}{{ a }}{{ b }};{% endfor %}',
  '{% set v = 1 %}{% for i in whole %}{% set v = i %}{% endfor %}{{ v }}{% set ns = namespace(v=1, w=[]) %}{% for i in whole %}{% set ns.v = ns.v + i %}{% endfor %}{{ ns.v }}',
  '{% set a, b = 1, 2 %}{{ b }}{{ a }}{% set c %}x{{ n }}{% endset %}{{ c|upper }}', '{% macro m(a, b="y", c=none) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(1, c=3) }}{{ m(b=2, a=1) }}',
  '{%- macro f(k) %}{% if k > 0 %}{{ k }}{{ f(k - 1) }}{% endif %}{% endmacro %}{{ f(4) }}', '{% if n == 1 %}a{% elif n == 7 %}b{% else %}c{% endif %}{% if q %}d{% elif 0 %}e{% else %}f{% endif %}',
  '{%- if true -%}\n  x  \n{%- endif -%}  y', 'a{% generation %} b {% endgeneration %}c\n{%- generation %} d {%- endgeneration %} e', '{{ strftime_now("%d %b %Y, %B %m %H:%M %%") }}',
  '{{ {"a": {"b": 1}}["a"]["b"] }}{{ {"}}": 1} }}', "{{ '{% x %}' }}{{ \"}}\" }}", '{{ [1, 2] + [3] }}{{ "abc"[1] }}{{ ("a" ~ n)|upper }}{{ (n, x)[1] }}',
]
const text = JSON.stringify({conversations, renderings, variables,
  small: Object.fromEntries(small.map(source => [source, new Template(source).render(variables)]))}, null, ' ') + '\n'
if (process.argv[2] === '-') process.stdout.write(text)
else writeFileSync('renderings.json', text)
