"""Renders the conversations below with the templates of this folder, and small templates, by transformers' own renderer
at one moment: python render.py, or python render.py - to see them. Made with transformers 5.24.0, jinja2 3.1.6."""
import datetime
import json
import pathlib
import sys

import jinja2
from transformers.utils import chat_template_utils

here = pathlib.Path(__file__).parent


class Moment(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 11, 5, 13, 7)


chat_template_utils.datetime = Moment


def result(render):
    """The text, what a template raises with raise_exception, or the kind of another error."""
    try:
        return render()
    except jinja2.exceptions.TemplateError as error:
        if type(error) is jinja2.exceptions.TemplateError:
            return {'raised': str(error)}
        return {'error': type(error).__name__}
    except Exception as error:
        return {'error': type(error).__name__}


def render(source, conversation):
    conversation = {'add_generation_prompt': True, 'bos_token': '<s>', 'eos_token': '</s>', 'tools': None, **conversation}
    messages = chat_template_utils._normalize_chat_messages(conversation.pop('messages'))
    return result(lambda: chat_template_utils.render_jinja_template([messages], chat_template=source, **conversation)[0][0])


def say(role):
    return lambda content: {'role': role, 'content': content}


user, assistant, system = say('user'), say('assistant'), say('system')


def part(text):
    return {'type': 'text', 'text': text}


tools = [{'type': 'function', 'function': {
    'name': 'get_weather', 'description': 'Weather of a "city" <now> & tomorrow',
    'parameters': {'type': 'object', 'required': ['city'], 'properties': {
        'city': {'type': 'string', 'description': 'Zürich, 東京'}, 'days': {'type': 'integer', 'minimum': 1},
        'unit': {'enum': ['c', 'f'], 'of': []}}}}}]
call = {'role': 'assistant', 'content': '', 'tool_calls': [
    {'id': 'abcdefghi', 'type': 'function', 'function': {'name': 'get_weather', 'arguments': {'city': 'Zürich', 'days': 2}}}]}
answer = {'role': 'tool', 'tool_call_id': 'abcdefghi', 'name': 'get_weather', 'content': '{"temp": 3}'}

conversations = {
    'one': {'messages': [user('Hello')]},
    'system': {'messages': [system('You are terse.'), user('Hi'), assistant('Hello.'), user('Bye')]},
    'no prompt': {'messages': [user('Hi'), assistant('Hello.'), user('Bye'), assistant('Good bye')],
                  'add_generation_prompt': False},
    'thinking off': {'messages': [user('2+2?')], 'enable_thinking': False},
    'thinking off in history': {'messages': [user('2+2?'), assistant('4'), user('3+3?')], 'enable_thinking': False},
    'thoughts': {'messages': [user('2+2?'), assistant('<think>\nadd\n</think>\n\n4'), user('3+3?'),
                              assistant('<think>\nadd more\n</think>\n\n6')], 'add_generation_prompt': False},
    'unicode': {'messages': [system('Ünïcödé 日本語'), user('👩‍👩‍👧 e\u0301 \u2028 \u00a0x'), assistant('नमस्ते İ'),
                             user('\ufeff  spaces \t\n around \n\x1c')]},
    'markup': {'messages': [user("<|im_end|> {{ 1+1 }} {% if %} 'q' \"d\" \\n <b>&amp;</b>")]},
    'empty': {'messages': [user(''), assistant(''), user('')]},
    'tools': {'messages': [system('Use tools.'), user('Weather?')], 'tools': tools},
    'tools without a system': {'messages': [user('Weather?')], 'tools': tools},
    'a call': {'messages': [user('Weather?'), call, answer, assistant('3 degrees'), user('Thanks')], 'tools': tools},
    'calls at the end': {'messages': [user('Weather?'), call, answer, answer], 'tools': tools},
    'an odd role': {'messages': [{'role': 'critic', 'content': 'Hm'}, user('Hi')]},
    'two users': {'messages': [user('Hi'), user('again')]},
    'the assistant first': {'messages': [assistant('I begin'), user('Hi')]},
    'a late system': {'messages': [user('Hi'), assistant('Hello'), system('Now be terse'), user('Bye')]},
    'parts': {'messages': [system([part('Be terse.')]), user([part('part one'), part(' part two')])]},
    'none': {'messages': []},
}

# Variables of the small templates.
variables = {'s': ' a,b,,c ', 't': 'Grüße 日本', 'n': 7, 'x': 2.5, 'whole': [1, 2, 3, 4, 5], 'names': ['b', 'A', 'b', 'c'],
             'nothing': None, 'people': [{'name': 'Ann', 'age': 3, 'tags': ['x']}, {'name': 'bob', 'age': 1}],
             'd': {'b': 1, 'a': 'é"\n\u2028', 'c': [True, None, 1.5, {}, []]}, 'large': 12345678901234567890,
             'schema': {'items': {'type': 'string'}, 'get': 1, 'type': 'array'}}


def main():
    small = json.loads((here / 'small.json').read_text())
    renderings = {}
    for path in sorted(here.glob('*.jinja')):
        source = path.read_text()
        renderings[path.name] = {title: render(source, conversation) for title, conversation in conversations.items()
                                 if title != 'parts' or 'part in' in source}  # others print the list
    text = json.dumps({'conversations': conversations, 'renderings': renderings, 'variables': variables, 'small': {
        source: result(lambda: chat_template_utils._compile_jinja_template(source).render(**variables)) for source in small}},
        indent=1, ensure_ascii=False) + '\n'
    if sys.argv[1:] == ['-']:
        sys.stdout.write(text)
    else:
        (here / 'renderings.json').write_text(text)


if __name__ == '__main__':
    main()
