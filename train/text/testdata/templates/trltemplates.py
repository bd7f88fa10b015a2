"""Renders random conversations with each chat template of the installed package trl (they are not copied here), by
transformers' own renderer at one moment: python trltemplates.py CONVERSATIONS FOLDER writes a file of JSON for each template, with
its source and, for each conversation, the variables that the template gets and its text or error.
Run with transformers 5.24.0, jinja2 3.1.6, trl 1.16."""
import importlib.util
import json
import pathlib
import random
import sys

from transformers.utils import chat_template_utils as utils

import render

words = ['Hello', 'Zürich', '日本語', '👩‍👩‍👧', 'e\u0301', '\u2028', '\u00a0', '\n', '\n\n', '  ', '\t', "it's", '"q"', '\\n', '<b>&</b>',
         '{{ 1 }}', '{% x %}', '<|im_end|>', '</think>', '<think>', '\n</think>\n\n', '1e-7', '20.0', 'ﬁ', 'ß', 'İ', 'Σ', '\x1c', '\x7f',
         '<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<|channel|>', 'final', '\ufeff', 'नमस्ते', '##', '---', '.']
names = ['get_weather', 'f', 'search.web', 'größe', 'browser', 'python']
scalars = [0, 1, -3, 20.0, 1e-7, 2.5, 1e22, 12345678901234567890, True, False, None, '', 'c', "it's", 'Zürich "x"\n']


def text(r):
    n = r.choice([0, 1, 1, 2, 3, 8])
    return r.choice(['', ' ']).join(r.choice(words) for _ in range(n))


def value(r, depth=0):
    kind = r.random()
    if depth < 2 and kind < 0.15:
        return [value(r, depth + 1) for _ in range(r.randrange(3))]
    if depth < 2 and kind < 0.3:
        return {r.choice(['a', 'B', 'items', 'city', 'ü']): value(r, depth + 1) for _ in range(r.randrange(3))}
    return r.choice(scalars)


def schema(r, depth=0):
    s = {'type': r.choice(['string', 'integer', 'number', 'boolean', 'array', 'object', ['string', 'null']])}
    if r.random() < 0.6:
        s['description'] = text(r)
    if r.random() < 0.2:
        s['enum'] = [value(r, 2) for _ in range(r.randrange(1, 4))]
    if r.random() < 0.2:
        s['default'] = value(r, 1)
    if r.random() < 0.2:
        s['nullable'] = r.random() < 0.5
    if s['type'] == 'array' and depth < 2:
        s['items'] = schema(r, depth + 1)
    if s['type'] == 'object' and depth < 2:
        s.update(properties={n: schema(r, depth + 1) for n in r.sample(['x', 'Y', 'items', 'type'], r.randrange(3))})
        if r.random() < 0.5:
            s['required'] = list(s['properties'])[:1]
        if r.random() < 0.3:
            s['additionalProperties'] = r.choice([True, False, {'type': 'string'}])
    return s


def tool(r):
    properties = {n: schema(r) for n in r.sample(['city', 'days', 'B', 'items', 'ü', 'path'], r.randrange(4))}
    f = {'name': r.choice(names), 'description': text(r)}
    if r.random() < 0.9:
        f['parameters'] = {'type': 'object', 'properties': properties, 'required': list(properties)[:r.randrange(3)]}
    if r.random() < 0.2:
        f['return'] = {'type': 'object', 'description': text(r)}
    if r.random() < 0.2:
        f['strict'] = r.random() < 0.5
    return f if r.random() < 0.1 else {'type': 'function', 'function': f}


def content(r, kinds=('text',)):
    kind = r.random()
    if kind < 0.75:
        return text(r)
    parts = []
    for _ in range(r.randrange(1, 4)):
        k = r.choice(kinds)
        parts.append({'type': 'text', 'text': text(r)} if k == 'text' else {'type': k})
    return parts


def message(r, role):
    m = {'role': role}
    if r.random() < 0.95:
        m['content'] = content(r, ('text', 'text', 'image') if role == 'user' else ('text',))
    if role == 'assistant':
        if r.random() < 0.3:
            m[r.choice(['reasoning_content', 'thinking', 'reasoning'])] = text(r)
        if r.random() < 0.3:
            m['tool_calls'] = []
            for i in range(r.randrange(1, 3)):
                arguments = {n: value(r) for n in r.sample(['city', 'days', 'B', 'ü'], r.randrange(4))}
                f = {'name': r.choice(names), 'arguments': json.dumps(arguments) if r.random() < 0.2 else arguments}
                c = f if r.random() < 0.1 else {'type': 'function', 'function': f}
                if r.random() < 0.7:
                    c = {'id': f'call{i:05}', **c}
                m['tool_calls'].append(c)
            if r.random() < 0.5:
                m['content'] = r.choice([None, ''])
    if role == 'tool':
        m.update(r.choice([{}, {'name': r.choice(names)}, {'tool_call_id': 'call00000'},
                           {'name': r.choice(names), 'tool_call_id': 'call00000'}]))
        if r.random() < 0.2:
            m['content'] = {'temp': value(r)}
    return m


def conversation(r):
    roles = r.choice([[], ['system'], ['system'], ['developer']])
    for _ in range(r.randrange(1, 4)):
        roles += r.choice([['user', 'assistant'], ['user', 'assistant'], ['user', 'assistant', 'tool', 'assistant'],
                           ['user', 'assistant', 'tool', 'tool', 'assistant'], ['user', 'user', 'assistant']])
    if r.random() < 0.5:
        roles = roles[:-1]
    if r.random() < 0.05:
        r.shuffle(roles)
    if r.random() < 0.02:
        roles = []
    return [message(r, role) for role in roles]


options = {'enable_thinking': [True, False], 'reasoning_effort': ['low', 'medium', 'high'], 'model_identity': ['You are X.'],
           'builtin_tools': [['browser', 'python'], ['python'], []], 'preserve_thinking': [True, False], 'thinking': [True, False],
           'documents': [[{'title': 'T', 'text': 'a "b"'}, {'title': 'ü', 'text': '\n'}]], 'date_string': ['26 Jul 2024'],
           'tools_in_user_message': [True, False], 'custom_tools': [None], 'keep_past_thinking': [True, False]}


def variables(r, source):
    v = {'bos_token': '<s>', 'eos_token': '</s>', 'unk_token': '<unk>'}
    declared = utils._get_template_variables(source)
    for name in sorted(declared - set(v) - {'messages', 'tools', 'documents', 'add_generation_prompt', 'raise_exception',
                                            'strftime_now', 'namespace', 'range', 'dict'}):
        if r.random() < 0.4:
            v[name] = r.choice(options.get(name, [True, False, '', 'x', None]))
    v['documents'] = r.choice([None, None, options['documents'][0]])
    v['add_generation_prompt'] = r.random() < 0.5
    v['tools'] = [tool(r) for _ in range(r.randrange(1, 4))] if r.random() < 0.4 else r.choice([None, None, []])
    v['messages'] = utils._alias_reasoning_fields(utils._normalize_chat_messages(conversation(r)))
    return v


def main():
    n, out = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    found = pathlib.Path(importlib.util.find_spec('trl').origin).parent / 'chat_templates'
    for path in sorted(found.glob('*.jinja')):
        source, r = path.read_text(), random.Random(path.name)
        compiled = utils._compile_jinja_template(source)
        rows = []
        for i in range(n):
            for _ in range(1 if i % 10 == 0 else 20):  # nine of ten are drawn anew until they render
                v = variables(r, source)
                result = render.result(lambda: compiled.render(**v))
                if isinstance(result, str):
                    break
            rows.append({'variables': v, 'result': result})
        (out / (path.stem + '.json')).write_text(json.dumps({'source': source, 'rows': rows}, ensure_ascii=False))


if __name__ == '__main__':
    main()
