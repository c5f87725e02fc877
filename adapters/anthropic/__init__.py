"""Claude behind the Model port.

`wire` writes a request's body, `lint` refuses an illegal one before it is sent, `stream` puts a
reply together and believes only a whole one, `failures` tells what may be tried again, `model`
does the talking.
"""
